/** The whole app on this machine: services, event bus, and the server behind the browser window. */
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rendererDir } from '../services/paths.js';
import { RefusalLog } from '../services/refusals.js';
import type { Services } from '../services/services.js';
import { type BackendOptions, startBackend } from '../window/backend.js';
import type { EventBus } from '../window/event-bus.js';
import { startWindowServer, type WindowServer } from '../window/server.js';

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

/** Errors: those of the services' start, and PORT_IN_USE for the window's port. */
export async function startApp(options: BackendOptions & { uiPort: number }): Promise<App> {
  const { services, bus, calls, stoppers, stop } = await startBackend(options);
  try {
    const token = windowToken(options.home);
    const refusals = new RefusalLog(options.home, 'window', [token]);
    const window = await startWindowServer({
      port: options.uiPort,
      token,
      onRefused: (request, why) => refusals.add(request, why),
      bus,
      staticDir: rendererDir(),
      services: calls,
    });
    return {
      services,
      bus,
      window,
      stoppers,
      async stop() {
        await window.close();
        await stop();
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
