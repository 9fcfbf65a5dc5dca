/** hermes: the `model` section of config.yaml, or environment variables alone (0.19 to 0.21). */
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Entry } from './config-entries.js';
import { isObject, type JsonObject } from './config-text.js';
import { answerTokens, type ConfigFile, type Connector, count, type GatewaySettings, type Whose } from './connector.js';
import { yamlText } from './yaml-text.js';

/** hermes does not start on a model that holds less. */
const FLOOR_TOKENS = 64_000;
const LEAST_CONTEXT = 65_536;

/** Of the model section. Unset, hermes asks for 65,536 tokens of answer, which most local servers refuse. */
function modelSection(settings: GatewaySettings): JsonObject {
  const contextTokens = Math.max(settings.contextTokens ?? 0, LEAST_CONTEXT);
  return {
    provider: 'custom',
    default: settings.modelId,
    base_url: settings.baseUrl,
    api_key: settings.token,
    context_length: contextTokens,
    max_tokens: answerTokens(settings.contextTokens ?? contextTokens),
  };
}

const config: ConfigFile = {
  name: 'config.yaml',
  syntax: yamlText,
  initial: '',
  entries({ model }, settings): Entry[] {
    const section = modelSection(settings);
    // The short form, `model: NAME`, has no room for the rest.
    if (model !== undefined && model !== null && !isObject(model))
      return [{ path: ['model'], kind: 'choice', ours: [section] }];
    return Object.entries(section).map(([key, value]) => ({
      path: ['model', key],
      kind: 'choice',
      ...(key === 'default' && { follows: ['model', 'provider'] }),
      ours: [value],
    }));
  },
};

function hermesHome({ root, env }: Whose): string {
  if (root !== undefined) return join(resolve(root), '.hermes');
  if (env.HERMES_HOME) return env.HERMES_HOME;
  if (process.platform === 'win32') return join(env.LOCALAPPDATA ?? homedir(), 'hermes');
  return join(homedir(), '.hermes');
}

export const hermesConnector: Connector = {
  name: 'hermes',
  programs: ['.local/bin/hermes', '.hermes/hermes-agent/venv/bin/hermes'],
  homeVariables: ['HERMES_HOME'],
  locate: (whose) => ({ dir: hermesHome(whose), files: [config] }),
  notes({ contextTokens }, { root, env }) {
    const notes: string[] = [];
    if (contextTokens !== null && contextTokens < FLOOR_TOKENS)
      notes.push(
        `hermes refuses models below ${count(FLOOR_TOKENS)} tokens and this one holds ${count(contextTokens)}, so it is told ${count(LEAST_CONTEXT)}: it starts, but never compacts in time, and a longer conversation ends with a context error after one try to shorten it.`,
      );
    if (root === undefined && env.CUSTOM_BASE_URL)
      notes.push('CUSTOM_BASE_URL is set and wins over the address written here.');
    return notes;
  },
};

const quoted = (value: string): string => `'${value.replaceAll("'", "'\\''")}'`;

/**
 * Exports that lead hermes here without a change of its files: no variable carries a key, so the token is in the path.
 * A provider in config.yaml wins over any variable, and one must be there, or hermes asks to be set up (0.19).
 */
export function hermesEnvironment({ baseUrl, modelId, token }: GatewaySettings): string {
  const address = baseUrl.replace(/\/v1$/, `/${token}/v1`);
  const variables = { CUSTOM_BASE_URL: address, HERMES_INFERENCE_MODEL: modelId };
  return [
    `# Then: hermes --provider custom -m ${modelId}   (just hermes, where its config.yaml has provider: custom)\n`,
    '# Its context_length comes from config.yaml alone; without it hermes believes the server, or in 256,000 tokens.\n',
    ...Object.entries(variables).map(([name, value]) => `export ${name}=${quoted(value)}\n`),
  ].join('');
}
