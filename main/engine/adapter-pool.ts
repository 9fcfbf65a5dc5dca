/**
 * Adapters in memory by hash, counted by the requests that run on them. An unknown hash is looked for under the registry's
 * folder (`<adapters>/<hash>/`), so an engine that was started again serves what it served before without being told.
 *
 * A request keeps the version it started with: a dropped adapter goes when its last request ends. Loading runs beside
 * decoding; two requests for one adapter load it once.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { TackroomError } from '../../contract/errors.js';
import type { NativeAdapter, NativeModel } from '../../native/addon.js';

export const BASE = 'base';

interface Held {
  adapter: NativeAdapter;
  /** Requests that run on it. */
  running: number;
  /** Goes with its last request. */
  dropped: boolean;
  /** Where it can be loaded again; null: only in memory, so never let go of for want of room. */
  dir: string | null;
}

export interface AdapterFacts {
  hash: string;
  rank: number;
  alpha: number;
}

/** An adapter for the length of one request; null = base. */
export interface Lease {
  adapter: NativeAdapter | null;
  release(): void;
}

/** Adapters that nobody runs on and that lie on disk, kept for the next request. */
const MOST_IDLE = 16;
const MOST_LOADS = 3;

export class AdapterPool {
  /** Least recently used first. */
  readonly #held = new Map<string, Held>();
  readonly #loading = new Map<string, Promise<AdapterFacts>>();

  constructor(
    private readonly model: Pick<NativeModel, 'loadAdapter'>,
    private readonly registryDir: string,
    /** Told when an adapter is gone: what was kept for it is of no use. */
    private readonly onGone: (hash: string) => void = () => undefined,
  ) {}

  get hashes(): string[] {
    return [...this.#held].flatMap(([hash, { dropped }]) => (dropped ? [] : [hash]));
  }

  /** Every adapter in memory, those that only wait for their last request too. */
  use(): { hash: string; running: number; dropped: boolean }[] {
    return [...this.#held].map(([hash, { running, dropped }]) => ({ hash, running, dropped }));
  }

  /** Takes over an adapter; a version that is held already stays, and is no longer dropped. */
  add(adapter: NativeAdapter, dir: string | null = null): string {
    const hash = adapter.hash();
    const held = this.#held.get(hash);
    if (held) {
      held.dropped = false;
      held.dir ??= dir;
      if (held.adapter !== adapter) adapter.free();
    } else {
      this.#held.set(hash, { adapter, running: 0, dropped: false, dir });
      this.#trimIdle(hash);
    }
    return hash;
  }

  async load(dir: string): Promise<AdapterFacts> {
    const adapter = await this.model.loadAdapter(dir);
    const { rank, alpha } = adapter;
    return { rank, alpha, hash: this.add(adapter, dir) };
  }

  /** Keeps an adapter in memory until `release`; null = base. Errors: NOT_FOUND, and those of loading. */
  async acquire(hash: string | null): Promise<Lease> {
    if (hash === null) return { adapter: null, release: () => undefined };
    // One that was loaded may be dropped again before this request comes to its turn.
    for (let tries = 0; tries < MOST_LOADS && !this.#serves(hash); tries++) await this.#find(hash);
    const held = this.#held.get(hash);
    if (!held) throw unknown(hash);
    held.running++;
    this.#held.delete(hash);
    this.#held.set(hash, held);
    let open = true;
    return {
      adapter: held.adapter,
      release: () => {
        if (!open) return;
        open = false;
        held.running--;
        if (held.dropped && held.running === 0 && this.#held.get(hash) === held) this.#remove(hash);
      },
    };
  }

  /** New requests no longer find it in memory; it goes when those that run on it have ended. */
  drop(hash: string): void {
    const held = this.#held.get(hash);
    if (!held) return;
    if (held.running > 0) held.dropped = true;
    else this.#remove(hash);
  }

  #serves(hash: string): boolean {
    const held = this.#held.get(hash);
    return held !== undefined && !held.dropped;
  }

  async #find(hash: string): Promise<void> {
    if (!/^[0-9a-f]{64}$/.test(hash))
      throw new TackroomError('BAD_ARGUMENT', 'An adapter is named by the 64 hex digits of its hash.');
    const dir = join(this.registryDir, hash);
    if (!existsSync(dir)) throw unknown(hash);
    let loading = this.#loading.get(hash);
    if (!loading) {
      loading = this.load(dir).finally(() => this.#loading.delete(hash));
      this.#loading.set(hash, loading);
    }
    if ((await loading).hash !== hash)
      throw new TackroomError(
        'ADAPTER_CORRUPT',
        `The adapter in ${dir} is not the one its name says.`,
        'Import it again from its source.',
      );
  }

  #remove(hash: string): void {
    const held = this.#held.get(hash);
    this.#held.delete(hash);
    this.onGone(hash);
    held?.adapter.free();
  }

  /** `newest` stays: it was just asked for. */
  #trimIdle(newest: string): void {
    const idle = [...this.#held].filter(
      ([hash, { running, dir, dropped }]) => hash !== newest && running === 0 && dir !== null && !dropped,
    );
    for (const [hash] of idle.slice(0, Math.max(0, idle.length - MOST_IDLE))) this.#remove(hash);
  }
}

function unknown(hash: string): TackroomError {
  return new TackroomError(
    'NOT_FOUND',
    `No adapter ${hash.slice(0, 12)} is loaded or registered.`,
    'List them with `tackroom adapters list`.',
  );
}
