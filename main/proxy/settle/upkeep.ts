/**
 * The work beside recording: looking at working directories, and deleting what is beyond the user's limits. It runs in a thread
 * of its own (see upkeep-thread.ts), so that neither git nor a sweep holds up an answer or a commit.
 */
import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { folderAround } from '../../record/folders.js';
import { recordingSettings, rememberSweep } from '../../record/settings.js';
import { sweep } from '../../record/sweep.js';
import { captureWorkspace } from '../../record/workspace/capture.js';
import { putWorkspace } from '../../record/workspace/workspace-store.js';
import type { Store } from '../../store/store.js';

export type ToUpkeep =
  /** A conversation begins in `cwd`; whether its request is stored is not known yet. */
  | { kind: 'begun'; requestId: string; cwd: string }
  | { kind: 'stored'; requestId: string; sessionId: string }
  | { kind: 'dropped'; requestId: string }
  | { kind: 'close' };

/** Sweeps at least this often; changed limits are noticed at the next look. */
const SWEEP_EVERY_MS = 60 * 60_000;
const LOOK_EVERY_MS = 15_000;
/** Between two transactions of a sweep: longer than a writer that waits sleeps between two tries. */
const TURN_MS = 110;
/** Captures at a time; sessions that begin beyond it go without. */
const MAX_CAPTURES = 8;
/** A request that took longer than any may is not coming back. */
const MAX_WAIT_MS = 60 * 60_000;

type Capture = ReturnType<typeof captureWorkspace>;

export class Upkeep {
  readonly #stop = new AbortController();
  readonly #captures = new Map<string, { capture: Capture; since: number }>();
  #sweptAt = Number.NEGATIVE_INFINITY;
  #sweptLimits = '';
  #work: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;

  /** `onProblem`: one sentence for the log. */
  constructor(
    private readonly store: Store,
    private readonly onProblem: (message: string) => void,
  ) {
    // Every program that runs listens to it.
    setMaxListeners(0, this.#stop.signal);
  }

  start(): void {
    this.#look();
    this.#timer = setInterval(() => this.#look(), LOOK_EVERY_MS);
  }

  hear(message: Exclude<ToUpkeep, { kind: 'close' }>): void {
    if (message.kind === 'begun') this.#begin(message.requestId, message.cwd);
    else if (message.kind === 'dropped') this.#captures.delete(message.requestId);
    else void this.#keep(message.requestId, message.sessionId);
  }

  /** Ends programs and sweeps; what a sweep has deleted stays deleted. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#stop.abort();
    await Promise.allSettled([this.#work, ...[...this.#captures.values()].map(({ capture }) => capture)]);
  }

  #begin(requestId: string, cwd: string): void {
    if (this.#captures.size >= MAX_CAPTURES) this.#forgetLate();
    const { workspace, excluded } = recordingSettings(this.store);
    if (!workspace || this.#captures.size >= MAX_CAPTURES || folderAround(cwd, excluded) !== undefined) return;
    const capture = captureWorkspace(cwd, this.#stop.signal);
    // Whoever keeps it hears of it; nobody may.
    capture.catch(() => undefined);
    this.#captures.set(requestId, { capture, since: Date.now() });
  }

  #forgetLate(): void {
    for (const [id, { since }] of this.#captures) if (Date.now() - since > MAX_WAIT_MS) this.#captures.delete(id);
  }

  async #keep(requestId: string, sessionId: string): Promise<void> {
    const waiting = this.#captures.get(requestId);
    if (!waiting) return;
    try {
      const workspace = await waiting.capture;
      if (workspace && !this.#stop.signal.aborted) putWorkspace(this.store, sessionId, workspace);
    } catch (error) {
      this.#problem('A working directory could not be captured', error);
    } finally {
      this.#captures.delete(requestId);
    }
  }

  #look(): void {
    this.#work = this.#work.then(() => this.#sweep()).catch((error: unknown) => this.#problem('A sweep failed', error));
  }

  async #sweep(): Promise<void> {
    const settings = recordingSettings(this.store);
    const limits = JSON.stringify([settings.maxAgeDays, settings.maxBytes]);
    const due = Date.now() - this.#sweptAt >= SWEEP_EVERY_MS || limits !== this.#sweptLimits;
    if (!due || this.#stop.signal.aborted) return;
    this.#sweptAt = Date.now();
    this.#sweptLimits = limits;
    if (settings.maxAgeDays === null && settings.maxBytes === null) return;
    const report = await sweep(this.store, settings, () => sleep(TURN_MS, undefined, { signal: this.#stop.signal }));
    rememberSweep(this.store, report);
  }

  #problem(what: string, error: unknown): void {
    if (!this.#stop.signal.aborted)
      this.onProblem(`${what}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
