/** One connected browser window: its calls in, replies and events out. */

import type { WebSocket } from 'ws';
import { z } from 'zod';
import type { Reply, WindowServices } from '../../contract/api.js';
import { EVENTS, type EventMessage } from '../../contract/events.js';
import { RateLimit } from '../services/rate-limit.js';
import { dispatchCall } from './dispatch.js';
import type { EventBus } from './event-bus.js';
import { Outbox } from './outbox.js';

const Frame = z.strictObject({ id: z.number().int().nonnegative(), call: z.string().max(100), input: z.unknown() });

/** Bytes that may wait in the socket before events start to queue. */
const MAX_BUFFERED_BYTES = 1 << 20;
const CALLS_PER_SECOND = 50;
const CALL_BURST = 100;
const MAX_OPEN_CALLS = 32;
const FLUSH_MS = 100;
/** WebSocket close code: policy violation (RFC 6455 section 7.4.1). */
const CLOSE_POLICY = 1008;

export function runSocketSession(socket: WebSocket, services: WindowServices, bus: EventBus): void {
  const limit = new RateLimit(CALLS_PER_SECOND, CALL_BURST);
  let open = 0;

  const send = (value: unknown): void => {
    if (socket.readyState === socket.OPEN) socket.send(JSON.stringify(value));
  };
  const outbox = new Outbox({
    ready: () => socket.bufferedAmount < MAX_BUFFERED_BYTES,
    send: (message) => send(message),
  });
  const unsubscribe = bus.subscribe((message) => outbox.push(checkEvent(message)));
  const flushing = setInterval(() => outbox.flush(), FLUSH_MS);
  flushing.unref();

  socket.on('message', (data, isBinary) => {
    const frame = isBinary ? undefined : readFrame(String(data));
    if (!frame) {
      socket.close(CLOSE_POLICY, 'The message does not have the agreed shape.');
      return;
    }
    const busy = (message: string): void => {
      const reply: Reply<never> = { ok: false, error: { code: 'BUSY', message, hint: 'It is tried again by itself.' } };
      send({ id: frame.id, reply });
    };
    if (!limit.take()) return busy('The window asks too often.');
    if (open >= MAX_OPEN_CALLS) return busy('Too many questions of the window are still open.');
    open += 1;
    void dispatchCall(services, frame.call, frame.input).then((reply) => {
      open -= 1;
      send({ id: frame.id, reply });
    });
  });
  socket.on('error', () => socket.terminate());
  socket.on('close', () => {
    clearInterval(flushing);
    unsubscribe();
  });
}

function readFrame(text: string): z.infer<typeof Frame> | undefined {
  try {
    return Frame.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

/** Throws for an event of the wrong shape: the bus reports it, the window never sees it. */
function checkEvent(message: EventMessage): EventMessage {
  const parsed = EVENTS[message.event].safeParse(message.data);
  if (parsed.success) return { event: message.event, data: parsed.data } as EventMessage;
  const first = parsed.error.issues[0];
  throw new Error(`the event does not have the agreed shape at ${first?.path.join('.')}: ${first?.message}`);
}
