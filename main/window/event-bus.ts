/** In-process publish/subscribe of the contract's events: training and the demo publish, windows listen. */
import type { EventData, EventMessage, EventName } from '../../contract/events.js';

export type EventListener = (message: EventMessage) => void;

export class EventBus {
  readonly #listeners = new Set<EventListener>();

  /** Delivers synchronously. A listener that throws is reported on stderr and does not stop the others or the publisher. */
  publish<N extends EventName>(event: N, data: EventData<N>): void {
    const message = { event, data } as EventMessage;
    for (const listener of this.#listeners) {
      try {
        listener(message);
      } catch (error) {
        process.stderr.write(
          `A listener of ${event} failed: ${error instanceof Error ? error.message : String(error)}\n`,
        );
      }
    }
  }

  /** Returns the unsubscriber. */
  subscribe(listener: EventListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  get listeners(): number {
    return this.#listeners.size;
  }
}
