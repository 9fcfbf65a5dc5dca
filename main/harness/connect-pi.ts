/** pi: `models.json` names the provider, `settings.json` makes it the default (its docs: models-configuration.md, settings.md; 1.6). */
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { PROVIDER } from './config-entries.js';
import type { JsonObject } from './config-text.js';
import { type ConfigFile, type Connector, count, type GatewaySettings, type Whose } from './connector.js';
import { jsonText } from './json-text.js';
import { piProvider } from './pi-config.js';

/**
 * pi compacts when less than 16,384 tokens are left, its own reserve: told of a smaller window than this, it would
 * compact after every turn.
 */
const LEAST_CONTEXT = 32_768;

const windowOf = ({ contextTokens }: GatewaySettings): number => Math.max(contextTokens ?? 0, LEAST_CONTEXT);

const models: ConfigFile = {
  name: 'models.json',
  syntax: jsonText,
  initial: '',
  entries: (_config, settings) => [
    {
      path: ['providers', PROVIDER],
      kind: 'own',
      ours: [
        piProvider({
          baseUrl: settings.baseUrl,
          modelId: settings.modelId,
          apiKey: settings.token,
          sessionHeaders: true,
          contextWindow: windowOf(settings),
        }) as JsonObject,
      ],
    },
  ],
};

const settingsFile: ConfigFile = {
  name: 'settings.json',
  syntax: jsonText,
  initial: '',
  entries: (_config, { modelId }) => [
    { path: ['defaultProvider'], kind: 'choice', ours: [PROVIDER] },
    { path: ['defaultModel'], kind: 'choice', follows: ['defaultProvider'], ours: [modelId] },
  ],
};

function agentDir({ root, env }: Whose): string {
  if (root !== undefined) return join(resolve(root), '.pi', 'agent');
  return env.PI_CODING_AGENT_DIR || join(homedir(), '.pi', 'agent');
}

export const piConnector: Connector = {
  name: 'pi',
  programs: ['.local/bin/pi', '.npm-global/bin/pi', '.bun/bin/pi'],
  homeVariables: ['PI_CODING_AGENT_DIR'],
  locate: (whose) => ({ dir: agentDir(whose), files: [models, settingsFile] }),
  notes: ({ contextTokens }) =>
    contextTokens !== null && contextTokens < LEAST_CONTEXT
      ? [
          `The model holds ${count(contextTokens)} tokens; pi keeps 16,384 free and would compact after every turn, so it is told ${count(LEAST_CONTEXT)} and compacts when the model says that it is full.`,
        ]
      : [],
};
