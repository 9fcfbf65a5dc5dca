/** The renderer's stores on a real store: calls go through the real dispatcher, only the transport is left out. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Reply, WindowBridge } from '../../contract/api.js';
import { rollbackAdapter, swapAdapter } from '../../main/adapters/registry.js';
import { Recorder } from '../../main/record/recorder.js';
import { openStore, type Store } from '../../main/store/store.js';
import { dispatchCall } from '../../main/window/dispatch.js';
import { EventBus } from '../../main/window/event-bus.js';
import { createWindowServices } from '../../main/window/services.js';
import { setBridge } from '../../renderer/bridge/client.js';
import { connectStores } from '../../renderer/stores/live.js';
import { connectSources } from '../window/connect-sources.js';
import { absent } from '../window/support.js';

export interface InProcessApp {
  store: Store;
  recorder: Recorder;
  bus: EventBus;
  /** Awaited before each answer, so that tests can let things happen in between. */
  beforeReply: () => Promise<void>;
  close(): void;
}

export function openInProcessApp(): InProcessApp {
  const home = mkdtempSync(join(tmpdir(), 'tackroom-renderer-'));
  const store = openStore(home);
  const recorder = new Recorder(store);
  const bus = new EventBus();
  const reload = (): Promise<void> => Promise.resolve();
  const services = createWindowServices({
    store,
    bus,
    connect: connectSources(home),
    gateway: absent,
    engine: absent,
    transcript: (id) => recorder.sessionTranscript(id),
    swap: (harness, adapterId) => swapAdapter(store, reload, harness, adapterId),
    rollback: (harness) => rollbackAdapter(store, reload, harness),
    stopRun: () => Promise.resolve(),
  });
  const bridge: WindowBridge = {
    async call(name, input) {
      const reply = await dispatchCall(services, name, structuredClone(input));
      await app.beforeReply();
      return structuredClone(reply) as Reply<never>;
    },
    onEvent: (listener) => bus.subscribe(listener),
  };
  setBridge(bridge);
  const disconnect = connectStores();
  const app: InProcessApp = {
    store,
    recorder,
    bus,
    beforeReply: () => Promise.resolve(),
    close() {
      disconnect();
      store.close();
      rmSync(home, { recursive: true, force: true });
    },
  };
  return app;
}
