/**
 * Events on their way to one window. While the window keeps up they pass straight through; when it does not they wait
 * here, at most `capacity` of them, newer ones replacing older ones of the same key. When even that is full, all are
 * dropped and the window is told to read again: memory stays bounded and the window never shows a gap as if it were whole.
 */
import { coalesceKey, type EventMessage } from '../../contract/events.js';

export interface OutboxTarget {
  /** False while too much is still unsent. */
  ready(): boolean;
  send(message: EventMessage): void;
}

const RESYNC: EventMessage = { event: 'window.resync', data: {} };

export class Outbox {
  readonly #waiting = new Map<string, EventMessage>();
  #sequence = 0;
  #lagging = false;

  constructor(
    private readonly target: OutboxTarget,
    private readonly capacity = 500,
  ) {}

  push(message: EventMessage): void {
    if (this.#lagging) return;
    if (this.#waiting.size === 0 && this.target.ready()) {
      this.target.send(message);
      return;
    }
    const key = coalesceKey(message) ?? `#${this.#sequence++}`;
    this.#waiting.delete(key);
    this.#waiting.set(key, message);
    if (this.#waiting.size <= this.capacity) return;
    this.#waiting.clear();
    this.#lagging = true;
  }

  /** To be called when the target may be ready again. */
  flush(): void {
    if (this.#lagging && this.target.ready()) {
      this.#lagging = false;
      this.target.send(RESYNC);
    }
    for (const [key, message] of this.#waiting) {
      if (!this.target.ready()) return;
      this.#waiting.delete(key);
      this.target.send(message);
    }
  }

  get waiting(): number {
    return this.#waiting.size;
  }
}
