/**
 * opencode: one file, JSON or JSONC. Of several files of one folder the later wins in its order config.json,
 * opencode.json, opencode.jsonc; a file or folder named by the environment wins over all of them (1.18).
 */
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { PROVIDER } from './config-entries.js';
import type { JsonObject } from './config-text.js';
import {
  answerTokens,
  type ConfigPlace,
  type Connector,
  count,
  type GatewaySettings,
  type Whose,
} from './connector.js';
import { jsonText } from './json-text.js';

const SCHEMA = 'https://opencode.ai/config.json';
const NEW_FILE = 'opencode.json';
const BY_RANK = ['opencode.jsonc', NEW_FILE, 'config.json'];
/** Its system prompt and tools alone, without a word of the user: measured on 1.18.33. */
const FIRST_PROMPT_TOKENS = 8_000;
/** Told less, it would compact before it has begun. */
const LEAST_CONTEXT = 16_384;
const DEFAULT_CONTEXT = 32_768;

function provider(settings: GatewaySettings): JsonObject {
  const context = Math.max(settings.contextTokens ?? DEFAULT_CONTEXT, LEAST_CONTEXT);
  return {
    npm: '@ai-sdk/openai-compatible',
    name: 'Tackroom',
    options: { baseURL: settings.baseUrl, apiKey: settings.token },
    models: {
      // Without an output limit it keeps 32,000 tokens free and compacts smaller models after every step.
      [settings.modelId]: { name: `Tackroom ${settings.modelId}`, limit: { context, output: answerTokens(context) } },
    },
  };
}

function pathOf({ root, env }: Whose): { dir: string; name: string } {
  if (root === undefined && !env.OPENCODE_CONFIG_DIR && env.OPENCODE_CONFIG) {
    const path = resolve(env.OPENCODE_CONFIG);
    return { dir: dirname(path), name: basename(path) };
  }
  const dir =
    root !== undefined
      ? join(resolve(root), '.config', 'opencode')
      : env.OPENCODE_CONFIG_DIR || join(env.XDG_CONFIG_HOME || join(homedir(), '.config'), 'opencode');
  // A folder of the environment's is read like a project's: config.json is not among its files.
  const names = root === undefined && env.OPENCODE_CONFIG_DIR ? BY_RANK.slice(0, 2) : BY_RANK;
  return { dir, name: names.find((name) => existsSync(join(dir, name))) ?? NEW_FILE };
}

function locate(whose: Whose): ConfigPlace {
  const { dir, name } = pathOf(whose);
  const file: ConfigPlace['files'][number] = {
    name,
    syntax: jsonText,
    // opencode writes this line into a file that lacks it; then it would not come back byte for byte.
    initial: `{\n  "$schema": "${SCHEMA}"\n}\n`,
    entries: (_config, settings) => [
      { path: ['provider', PROVIDER], kind: 'own', ours: [provider(settings)] },
      { path: ['model'], kind: 'choice', ours: [`${PROVIDER}/${settings.modelId}`] },
      { path: ['small_model'], kind: 'choice', ours: [`${PROVIDER}/${settings.modelId}`] },
      { path: ['enabled_providers'], kind: 'member', ours: [PROVIDER] },
    ],
  };
  return { dir, files: [file] };
}

export const opencodeConnector: Connector = {
  name: 'opencode',
  programs: ['.opencode/bin/opencode', '.local/bin/opencode', '.bun/bin/opencode'],
  homeVariables: ['OPENCODE_CONFIG', 'OPENCODE_CONFIG_DIR'],
  locate,
  notes({ contextTokens }, { root, env }) {
    const notes: string[] = [];
    if (contextTokens !== null && contextTokens < LEAST_CONTEXT)
      notes.push(
        `The model holds ${count(contextTokens)} tokens and opencode's first prompt alone takes about ${count(FIRST_PROMPT_TOKENS)}${contextTokens < FIRST_PROMPT_TOKENS ? ', so every request will fail: serve a larger model' : ', so it has little room'}.`,
      );
    if (root === undefined && env.OPENCODE_CONFIG_CONTENT)
      notes.push('OPENCODE_CONFIG_CONTENT is set and wins over what is written here.');
    notes.push(
      'Where no enabled_providers were listed, the other providers of opencode are hidden until you disconnect.',
    );
    return notes;
  },
};
