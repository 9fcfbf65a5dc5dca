/** Everything behind a window: the running services, the events, and the window's calls answered from them. */
import type { WindowServices } from '../../contract/api.js';
import { rollbackAdapter, swapAdapter } from '../adapters/registry.js';
import { resolveModel } from '../models/resolve-model.js';
import { Recorder } from '../record/recorder.js';
import type { LoginItem } from '../services/login-item.js';
import { type Services, type ServicesOptions, startServices } from '../services/services.js';
import { EventBus } from './event-bus.js';
import { connectLiveSources } from './live-sources.js';
import { createWindowServices } from './services.js';

export interface Backend {
  services: Services;
  bus: EventBus;
  /** Answers of the window's calls; any transport may carry them. */
  calls: WindowServices;
  /** Aborts a run that runs in this process, by run id. */
  stoppers: Map<string, () => void>;
  stop(): Promise<void>;
}

export interface BackendOptions extends ServicesOptions {
  /** Starts the gateway at login; absent: nothing here can. */
  loginItem?: LoginItem | null;
}

const RELOAD_DEADLINE_MS = 5_000;

function answerCalls(
  services: Services,
  bus: EventBus,
  stoppers: Map<string, () => void>,
  { modelDir, loginItem }: BackendOptions,
): WindowServices {
  const { store } = services;
  const recorder = new Recorder(store);
  const reload = (): Promise<unknown> => services.gateway('routes.reload', {}, { timeoutMs: RELOAD_DEADLINE_MS });
  return createWindowServices({
    store,
    bus,
    connect: {
      vault: services.vault,
      loginItem: loginItem ?? null,
      // Without a name it is the one that was started.
      findModel: (model) => (model === undefined ? modelDir : resolveModel(model, store)),
      reloadRoutes: reload,
      unlockGateway: () => services.unlockGateway(),
    },
    engine: services.engineClient,
    gateway: services.gatewayClient,
    transcript: (id) => recorder.sessionTranscript(id),
    swap: (harness, adapterId) => swapAdapter(store, reload, harness, adapterId),
    rollback: (harness) => rollbackAdapter(store, reload, harness),
    async stopRun(id) {
      const stop = stoppers.get(id);
      if (stop) stop();
      else store.run.update(id, (run) => ({ ...run, status: 'stopped', updatedAt: Date.now() }));
    },
  });
}

/** Starts engine and gateway and connects them to a window's calls and events. Errors: those of the services' start. */
export async function startBackend(options: BackendOptions): Promise<Backend> {
  const services = await startServices(options);
  try {
    const bus = new EventBus();
    const stoppers = new Map<string, () => void>();
    const calls = answerCalls(services, bus, stoppers, options);
    const disconnect = connectLiveSources(bus, services.gatewayClient, services.engineClient);
    await services.gatewayClient.connect();
    return {
      services,
      bus,
      calls,
      stoppers,
      async stop() {
        disconnect();
        await services.stop();
      },
    };
  } catch (error) {
    await services.stop();
    throw error;
  }
}
