/** The renderer's one way to the app: `ask` calls, `onEvent` listens. Whoever starts the window sets the bridge. */
import type { CallInput, CallName, CallOutput, WindowBridge } from '../../contract/api.js';
import { fromErrorShape, TackroomError } from '../../contract/errors.js';
import type { EventMessage } from '../../contract/events.js';

declare global {
  interface Window {
    /** Set by Electron's preload; absent in a browser. */
    tackroom?: WindowBridge;
  }
}

let bridge: WindowBridge | undefined;

export function setBridge(next: WindowBridge): void {
  bridge = next;
}

/** Rejects with a TackroomError. */
export async function ask<N extends CallName>(name: N, input: CallInput<N>): Promise<CallOutput<N>> {
  if (!bridge) throw new TackroomError('SERVICE_GONE', 'The window is not connected yet.');
  const reply = await bridge.call(name, input);
  if (!reply.ok) throw fromErrorShape(reply.error);
  return reply.output;
}

export function onEvent(listener: (message: EventMessage) => void): () => void {
  return bridge?.onEvent(listener) ?? (() => undefined);
}
