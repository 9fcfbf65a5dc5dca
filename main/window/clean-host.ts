/** Looks at sessions in threads: the ones on screen, kept while they are, and others one after the other in the background. */
import type { CleanState } from '../../contract/clean-calls.js';
import { TackroomError, toErrorShape } from '../../contract/errors.js';
import { policyKey, policyOf } from '../sanitize/review/policy.js';
import { keepVerdict, storedVerdict } from '../sanitize/review/verdict-store.js';
import type { Store } from '../store/store.js';
import type { Vault } from '../vault/vault.js';
import type { Opened, ThreadCall, ThreadCalls } from './clean-protocol.js';
import { CleanWorker } from './clean-worker.js';
import { noSession } from './session-list.js';

const LOOK_DEADLINE_MS = 10 * 60_000;
/** Shorter than the window waits for any call. */
const PAGE_DEADLINE_MS = 12_000;
const KEPT_MS = 5 * 60_000;
/** Sessions that are kept at a time. */
const MOST_KEPT = 2;
/** A session that goes on is not looked at with each of its requests. */
const QUIET_MS = 30_000;

interface Look {
  worker: CleanWorker;
  key: string;
  /** The session as it was read. */
  read: string;
  startedAt: number;
  state: CleanState;
  /** Nobody asked for it since. */
  idle: NodeJS.Timeout | undefined;
}

export interface CleanHostOptions {
  store: Store;
  vault: Vault;
  /** A verdict is there, or another one. */
  onVerdict(sessionId: string): void;
}

export class CleanHost {
  readonly #looks = new Map<string, Look>();
  readonly #waiting = new Set<string>();
  #checked: { sessionId: string; worker: CleanWorker } | null = null;

  constructor(private readonly options: CleanHostOptions) {}

  /** Starts unless it is looked at, or was, as it is. Errors: NOT_FOUND, those of the vault and the rules. */
  open(sessionId: string): CleanState {
    const { store, vault } = this.options;
    const key = policyKey(store, vault, sessionId);
    if (key === null) throw noSession();
    const known = this.#looks.get(sessionId);
    if (known && known.key === key && !known.worker.ended) return this.state(sessionId);
    const policy = policyOf(store, vault, sessionId);
    const again = known && !known.worker.ended && known.state.state === 'ready';
    if (known && !again) known.worker.end();
    const { updatedAt, requests } = store.session.get(sessionId)!;
    const read = `${updatedAt}/${requests}`;
    const look: Look = {
      worker: again ? known.worker : new CleanWorker(store.home),
      key,
      read,
      startedAt: performance.now(),
      state: { state: 'working', phase: 'start', done: 0, total: 1, ms: 0 },
      idle: undefined,
    };
    clearTimeout(known?.idle);
    this.#looks.delete(sessionId);
    this.#looks.set(sessionId, look);
    this.#makeRoom();
    const fresh = !again || known.read !== read;
    void look.worker
      .ask('open', { sessionId, policy, fresh }, LOOK_DEADLINE_MS)
      .then((opened) => this.#opened(sessionId, look, opened))
      .catch((error: unknown) => {
        look.state = { state: 'failed', error: toErrorShape(error) };
        look.worker.end();
      });
    return this.state(sessionId);
  }

  state(sessionId: string): CleanState {
    const look = this.#looks.get(sessionId);
    if (!look) return { state: 'none' };
    this.#used(sessionId, look);
    if (look.state.state !== 'working') return look.state;
    return { ...look.worker.progress, state: 'working', ms: Math.round(performance.now() - look.startedAt) };
  }

  /** Errors: NOT_FOUND before it is ready. */
  async ask<C extends ThreadCall>(
    sessionId: string,
    name: C,
    input: ThreadCalls[C]['input'],
  ): Promise<{ version: string; output: ThreadCalls[C]['output'] }> {
    const look = this.#looks.get(sessionId);
    if (look && !this.options.store.session.get(sessionId)) {
      this.#forget(sessionId, look);
      throw noSession();
    }
    if (look?.state.state !== 'ready')
      throw new TackroomError('NOT_FOUND', 'This session was not looked at yet.', 'Open it again.');
    this.#used(sessionId, look);
    return { version: look.key, output: await look.worker.ask(name, input, PAGE_DEADLINE_MS) };
  }

  cancel(sessionId: string): void {
    this.#looks.get(sessionId)?.worker.end();
  }

  /** Sessions without a verdict of their present state; those that go on wait until they are quiet. */
  check(sessionIds: readonly string[]): void {
    for (const id of sessionIds) this.#waiting.add(id);
    void this.#checkNext();
  }

  stopChecks(): void {
    this.#waiting.clear();
    this.#checked?.worker.end();
  }

  checking(): { left: number; sessionId: string | null } {
    return { left: this.#waiting.size + (this.#checked ? 1 : 0), sessionId: this.#checked?.sessionId ?? null };
  }

  close(): void {
    this.stopChecks();
    for (const { worker, idle } of this.#looks.values()) {
      clearTimeout(idle);
      worker.end();
    }
    this.#looks.clear();
  }

  #opened(sessionId: string, look: Look, opened: Opened): void {
    look.state = { state: 'ready', ...opened, version: look.key };
    this.#keep(sessionId, look.key, opened);
  }

  #keep(sessionId: string, key: string, { summary }: Opened): void {
    // The app was closed meanwhile.
    if (!this.options.store.db.open) return;
    keepVerdict(this.options.store, { sessionId, key, summary });
    this.options.onVerdict(sessionId);
  }

  #used(sessionId: string, look: Look): void {
    clearTimeout(look.idle);
    look.idle = setTimeout(() => {
      this.#forget(sessionId, look);
    }, KEPT_MS);
    look.idle.unref();
  }

  #forget(sessionId: string, look: Look): void {
    clearTimeout(look.idle);
    look.worker.end();
    if (this.#looks.get(sessionId) === look) this.#looks.delete(sessionId);
  }

  #makeRoom(): void {
    for (const [id, look] of this.#looks) {
      if (this.#looks.size <= MOST_KEPT) return;
      this.#forget(id, look);
    }
  }

  async #checkNext(): Promise<void> {
    if (this.#checked) return;
    let worker: CleanWorker | null = null;
    for (const sessionId of this.#waiting) {
      this.#waiting.delete(sessionId);
      if (!this.#isDue(sessionId)) continue;
      if (!worker || worker.ended) worker = new CleanWorker(this.options.store.home);
      this.#checked = { sessionId, worker };
      try {
        const policy = policyOf(this.options.store, this.options.vault, sessionId);
        this.#keep(
          sessionId,
          policy.key,
          await worker.ask('open', { sessionId, policy, fresh: true }, LOOK_DEADLINE_MS),
        );
      } catch (error) {
        // It stays without a verdict; opening it tells why. A locked vault stops them all.
        if (toErrorShape(error).code.startsWith('VAULT')) this.#waiting.clear();
      } finally {
        this.#checked = null;
      }
    }
    worker?.end();
  }

  #isDue(sessionId: string): boolean {
    const { store, vault } = this.options;
    const session = store.db.open ? store.session.get(sessionId) : undefined;
    if (!session || storedVerdict(store, sessionId)?.key === policyKey(store, vault, sessionId)) return false;
    return session.origin !== 'user' || session.updatedAt < Date.now() - QUIET_MS;
  }
}
