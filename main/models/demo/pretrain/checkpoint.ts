import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { NativeTrainer } from '../../../../native/addon.js';

/** Where a run stands; together with the trainer's state file this is all it needs to go on. */
export interface Progress {
  step: number;
  /** Tokens trained on. */
  tokens: number;
  /** Number of the next synthetic session. */
  nextSession: number;
  /** Time spent in steps, over all starts. */
  seconds: number;
  /** Exponential mean of the loss, for the log. */
  smoothLoss: number;
}

export const FRESH: Progress = {
  step: 0,
  tokens: 0,
  nextSession: 0,
  seconds: 0,
  smoothLoss: Number.NaN,
};

interface Saved {
  progress: Progress;
  stateFile: string;
}

/**
 * Two-phase checkpoints: the state goes to a new file first, then a small JSON file that names it is replaced. A run
 * killed at any moment finds the last complete pair.
 */
export class Checkpoints {
  private readonly index: string;

  constructor(private readonly dir: string) {
    mkdirSync(dir, { recursive: true });
    this.index = join(dir, 'progress.json');
  }

  async save(trainer: NativeTrainer, progress: Progress): Promise<void> {
    const before = this.read();
    const stateFile = `state-${progress.step}.bin`;
    await trainer.saveState(join(this.dir, stateFile));
    writeFileSync(`${this.index}.new`, JSON.stringify({ progress, stateFile } satisfies Saved));
    renameSync(`${this.index}.new`, this.index);
    if (before && before.stateFile !== stateFile) rmSync(join(this.dir, before.stateFile), { force: true });
  }

  /** Restores the trainer and gives the progress; a fresh start where there is no checkpoint. */
  async restore(trainer: NativeTrainer): Promise<Progress> {
    const saved = this.read();
    if (!saved) return { ...FRESH };
    await trainer.loadState(join(this.dir, saved.stateFile));
    return saved.progress;
  }

  private read(): Saved | null {
    return existsSync(this.index) ? (JSON.parse(readFileSync(this.index, 'utf8')) as Saved) : null;
  }
}
