/** The whole app on this machine: services, event bus, and the server behind the browser window. */
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rollbackAdapter, swapAdapter } from '../adapters/registry.js';
import { Recorder } from '../record/recorder.js';
import { rendererDir } from '../services/paths.js';
import { type Services, type ServicesOptions, startServices } from '../services/services.js';
import { EventBus } from '../window/event-bus.js';
import { connectLiveSources } from '../window/live-sources.js';
import { startWindowServer, type WindowServer } from '../window/server.js';
import { createWindowServices } from '../window/services.js';

export interface App {
  services: Services;
  bus: EventBus;
  window: WindowServer;
  /** Aborts a running run; set while one runs. */
  stoppers: Map<string, () => void>;
  stop(): Promise<void>;
}

/** Per-install secret of the window; a file of its own, 0600. */
export function windowToken(home: string): string {
  const file = join(home, 'window-token');
  if (existsSync(file)) {
    const token = readFileSync(file, 'utf8').trim();
    if (token.length >= 32) return token;
  }
  const token = randomBytes(24).toString('hex');
  writeFileSync(file, token, { mode: 0o600 });
  return token;
}

export async function startApp(options: ServicesOptions & { uiPort: number }): Promise<App> {
  const services = await startServices(options);
  try {
    const bus = new EventBus();
    const stoppers = new Map<string, () => void>();
    const { store } = services;
    const recorder = new Recorder(store);
    const reload = (): Promise<unknown> => services.gateway('routes.reload', {}, { timeoutMs: 5000 });
    const window = await startWindowServer({
      port: options.uiPort,
      token: windowToken(options.home),
      bus,
      staticDir: rendererDir(),
      services: createWindowServices({
        store,
        bus,
        engine: services.engineClient,
        gateway: services.gatewayClient,
        transcript: (id) => recorder.sessionTranscript(id),
        swap: (harness, adapterId) => swapAdapter(store, reload, harness, adapterId),
        rollback: (harness) => rollbackAdapter(store, reload, harness),
        stopRun: async (id) => {
          const stop = stoppers.get(id);
          if (stop) stop();
          else store.run.update(id, (run) => ({ ...run, status: 'stopped', updatedAt: Date.now() }));
        },
      }),
    });
    const disconnect = connectLiveSources(bus, services.gatewayClient, services.engineClient);
    await services.gatewayClient.connect();
    return {
      services,
      bus,
      window,
      stoppers,
      async stop() {
        disconnect();
        await window.close();
        await services.stop();
      },
    };
  } catch (error) {
    await services.stop();
    throw error;
  }
}
