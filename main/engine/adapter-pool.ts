/**
 * Adapters in memory by hash. An unknown hash is looked for under the registry's folder (`<adapters>/<hash>/`), so an
 * engine that was started again serves what it served before without being told.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { TackroomError } from '../../contract/errors.js';
import type { NativeAdapter, NativeModel } from '../../native/addon.js';

export const BASE = 'base';

export class AdapterPool {
  #held = new Map<string, NativeAdapter>();
  #loading = new Map<string, Promise<NativeAdapter>>();

  constructor(
    private readonly model: NativeModel,
    private readonly registryDir: string,
  ) {}

  get hashes(): string[] {
    return [...this.#held.keys()];
  }

  add(adapter: NativeAdapter): string {
    const hash = adapter.hash();
    if (!this.#held.has(hash)) this.#held.set(hash, adapter);
    return hash;
  }

  async load(dir: string): Promise<NativeAdapter> {
    const adapter = await this.model.loadAdapter(dir);
    this.add(adapter);
    return adapter;
  }

  /** null = base. Errors: NOT_FOUND, and those of loading. */
  async get(hash: string | null): Promise<NativeAdapter | null> {
    if (hash === null) return null;
    const held = this.#held.get(hash);
    if (held) return held;
    if (!/^[0-9a-f]{64}$/.test(hash))
      throw new TackroomError('BAD_ARGUMENT', 'An adapter is named by the 64 hex digits of its hash.');
    const dir = join(this.registryDir, hash);
    if (!existsSync(dir))
      throw new TackroomError(
        'NOT_FOUND',
        `No adapter ${hash.slice(0, 12)} is loaded or registered.`,
        'List them with `tackroom adapters list`.',
      );
    let loading = this.#loading.get(hash);
    if (!loading) {
      loading = this.load(dir).finally(() => this.#loading.delete(hash));
      this.#loading.set(hash, loading);
    }
    const adapter = await loading;
    if (adapter.hash() !== hash)
      throw new TackroomError(
        'ADAPTER_CORRUPT',
        `The adapter in ${dir} is not the one its name says.`,
        'Import it again from its source.',
      );
    return adapter;
  }

  drop(hash: string): void {
    this.#held.delete(hash);
  }
}
