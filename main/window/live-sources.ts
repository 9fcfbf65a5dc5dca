/** Turns what the other processes say into window events: recorded requests as they come, engine status while watched. */
import type { EngineView } from '../../contract/views.js';
import type { RecordedEvent } from '../proxy/protocol.js';
import type { EventBus } from './event-bus.js';
import { readEngine, type StatusSource } from './service-views.js';

const ENGINE_POLL_MS = 2_000;

/** Returns the function that ends it. The engine is asked only while some window listens. */
export function connectLiveSources(bus: EventBus, gateway: StatusSource, engine: StatusSource): () => void {
  const offRecorded = gateway.on('recorded', (data) => {
    const { sessionId, requestId, origin, blocked } = data as RecordedEvent;
    bus.publish('session.recorded', { sessionId, requestId, origin, blocked });
  });
  let last: string | undefined;
  let asking = false;
  const poll = setInterval(() => {
    if (asking || bus.listeners === 0) return;
    asking = true;
    void readEngine(engine).then((view) => {
      asking = false;
      const key = JSON.stringify(comparable(view));
      if (key === last) return;
      last = key;
      bus.publish('engine.status', { engine: view });
    });
  }, ENGINE_POLL_MS);
  poll.unref();
  return () => {
    offRecorded();
    clearInterval(poll);
  };
}

/** Memory wobbles by the page; only a change of 4 MiB counts. */
const comparable = (view: EngineView): unknown => ({ ...view, rssBytes: Math.round(view.rssBytes / (4 << 20)) });
