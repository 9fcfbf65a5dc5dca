/** What connecting pi changes in its two configuration files, and how a changed file is brought back. */
import { isObject, type JsonObject } from './config-file.js';
import { PI_PROVIDER, type PiModelOptions, piProvider } from './pi-config.js';

/** One configuration file: how Tackroom enters it and leaves it. Both return a new object and keep all else. */
export interface ConfigEdit {
  name: string;
  enter(config: JsonObject, options: PiModelOptions): JsonObject;
  /** For a file that was edited since; `original` is what it held before Tackroom entered. */
  leave(config: JsonObject, original: JsonObject): JsonObject;
}

const DEFAULT_KEYS = ['defaultProvider', 'defaultModel'] as const;

function without(object: JsonObject, key: string): JsonObject {
  const { [key]: _removed, ...rest } = object;
  return rest;
}

const models: ConfigEdit = {
  name: 'models.json',
  enter(config, options) {
    const providers = isObject(config.providers) ? config.providers : {};
    return { ...config, providers: { ...providers, [PI_PROVIDER]: piProvider(options) } };
  },
  leave(config, original) {
    if (!isObject(config.providers)) return config;
    const providers = without(config.providers, PI_PROVIDER);
    if (Object.keys(providers).length === 0 && original.providers === undefined) return without(config, 'providers');
    return { ...config, providers };
  },
};

const settings: ConfigEdit = {
  name: 'settings.json',
  enter: (config, options) => ({ ...config, defaultProvider: PI_PROVIDER, defaultModel: options.modelId }),
  leave(config, original) {
    if (config.defaultProvider !== PI_PROVIDER) return config;
    const result = { ...config };
    for (const key of DEFAULT_KEYS) {
      if (original[key] === undefined) delete result[key];
      else result[key] = original[key];
    }
    return result;
  },
};

export const PI_EDITS: ConfigEdit[] = [models, settings];
