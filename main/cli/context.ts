/** Options that every command shares, and what most commands need: an open store, or the running services. */
import { existsSync } from 'node:fs';
import { resolveModel } from '../models/resolve-model.js';
import { defaultHome, openHome } from '../services/paths.js';
import { type Services, startServices } from '../services/services.js';
import { openStore, type Store } from '../store/store.js';
import type { CommandIo } from './io.js';

export interface GlobalOptions {
  home?: string;
}

export async function withStore<T>(options: GlobalOptions, work: (store: Store) => T | Promise<T>): Promise<T> {
  const { home } = openHome(defaultHome(options.home));
  const store = openStore(home);
  try {
    return await work(store);
  } finally {
    store.close();
  }
}

/** `--model`: a folder or file, or the id of a registered model; default: the built-in demo model. */
export async function findModel(options: GlobalOptions & { model?: string }): Promise<string> {
  const { model } = options;
  if (model === undefined || model === 'demo' || existsSync(model)) return resolveModel(model);
  return withStore(options, (store) => resolveModel(model, store));
}

/** `--model` of the engine commands: a path stays as it was written, an id becomes its path. */
export async function findEngineModel(options: GlobalOptions & { model: string }): Promise<string> {
  return existsSync(options.model) ? options.model : findModel(options);
}

/** Starts engine and gateway for the length of `work`. */
export async function withServices<T>(
  io: CommandIo,
  options: GlobalOptions & { model?: string; port?: number },
  work: (services: Services) => Promise<T>,
): Promise<T> {
  const home = defaultHome(options.home);
  const services = await startServices({
    home,
    modelDir: await findModel(options),
    port: options.port ?? 0,
    onRestart: (service, exit) =>
      io.stderr.write(`The ${service} ended (${exit.signal ?? exit.code}); it is started again.\n`),
  });
  try {
    return await work(services);
  } finally {
    await services.stop();
  }
}
