/**
 * Calls of the window, over Electron's IPC. One handler for all: who asks is checked first (the main frame of a page of
 * our own origin), then how much and how often, then the call itself against the contract.
 */
import { type IpcMainInvokeEvent, ipcMain, type WebContents } from 'electron';
import { MAX_INPUT_BYTES, type Reply, type WindowServices } from '../../contract/api.js';
import type { ErrorCode } from '../../contract/errors.js';
import { EVENTS, type EventMessage } from '../../contract/events.js';
import { RateLimit } from '../services/rate-limit.js';
import { dispatchCall } from '../window/dispatch.js';
import type { EventBus } from '../window/event-bus.js';
import { CALL_CHANNEL, EVENT_CHANNEL } from './channels.js';
import { isAppUrl } from './lockdown.js';

const CALLS_PER_SECOND = 50;
const CALL_BURST = 100;

const refuse = (code: ErrorCode, message: string): Reply<never> => ({ ok: false, error: { code, message } });

/** True when the call comes from the main frame of a page of ours. A frame that is gone meanwhile has no origin. */
export function senderIsOurs(event: Pick<IpcMainInvokeEvent, 'sender' | 'senderFrame'>): boolean {
  const frame = event.senderFrame;
  return frame !== null && frame === event.sender.mainFrame && isAppUrl(frame.url);
}

/** Bytes of the input as JSON; infinite when it cannot be written as JSON. */
function inputBytes(input: unknown): number {
  try {
    return Buffer.byteLength(JSON.stringify(input) ?? '');
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/** Answers the window's calls from `services` until the returned function is called. */
export function serveCalls(services: WindowServices): () => void {
  const limits = new WeakMap<WebContents, RateLimit>();
  const limitOf = (sender: WebContents): RateLimit => {
    const limit = limits.get(sender) ?? new RateLimit(CALLS_PER_SECOND, CALL_BURST);
    limits.set(sender, limit);
    return limit;
  };
  ipcMain.handle(CALL_CHANNEL, async (event, name: unknown, input: unknown): Promise<Reply<unknown>> => {
    if (!senderIsOurs(event)) return refuse('UNAUTHORIZED', 'This page does not belong to Tackroom.');
    if (!limitOf(event.sender).take()) return refuse('BUSY', 'The window asks too often.');
    if (inputBytes(input) > MAX_INPUT_BYTES)
      return refuse('BAD_ARGUMENT', 'The window sent more than a call may hold.');
    return dispatchCall(services, name, input);
  });
  return () => ipcMain.removeHandler(CALL_CHANNEL);
}

/** Sends the bus's events to one page until it is destroyed. An event of the wrong shape throws into the bus's report. */
export function forwardEvents(bus: EventBus, contents: WebContents): void {
  const unsubscribe = bus.subscribe((message: EventMessage) => {
    if (contents.isDestroyed() || !isAppUrl(contents.getURL())) return;
    const data: unknown = EVENTS[message.event].parse(message.data);
    contents.send(EVENT_CHANNEL, { event: message.event, data });
  });
  contents.once('destroyed', unsubscribe);
}
