/** A progress line: live on a terminal, else one line when the text changes, at most every ten seconds. */
import type { CommandIo } from './io.js';

export function formatDuration(ms: number): string {
  const s = Math.round(ms / 1000);
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min ${s % 60} s`;
  return `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`;
}

const QUIET_MS = 10_000;

export class Progress {
  #live = '';
  #printedAt = 0;

  constructor(private readonly io: Pick<CommandIo, 'stderr' | 'interactive'>) {}

  /** What is going on now; replaced by the next call. */
  status(text: string): void {
    if (this.io.interactive) {
      const line = text.slice(0, (process.stderr.columns || 100) - 1);
      this.io.stderr.write(`\r\u001b[2K${line}`);
      this.#live = line;
    } else if (Date.now() - this.#printedAt > QUIET_MS) {
      this.#printedAt = Date.now();
      this.io.stderr.write(`  ${text}\n`);
    }
  }

  /** A line that stays. */
  line(text: string): void {
    if (this.#live) this.io.stderr.write('\r\u001b[2K');
    this.io.stderr.write(`${text}\n`);
    this.#printedAt = Date.now();
    if (this.#live) this.io.stderr.write(this.#live);
  }

  clear(): void {
    if (this.#live) this.io.stderr.write('\r\u001b[2K');
    this.#live = '';
  }
}
