/** What Tackroom must know of a harness to be entered as its model; one file per harness, `connect-NAME.ts`. */
import type { Entry } from './config-entries.js';
import type { ConfigSyntax, JsonObject } from './config-text.js';

/** Whose configuration: another home folder, or what the environment says. */
export interface Whose {
  root?: string;
  env: NodeJS.ProcessEnv;
}

export interface ConfigFile {
  name: string;
  syntax: ConfigSyntax;
  /** What a new file starts with. */
  initial: string;
  /** `config`: what the file holds without Tackroom. */
  entries(config: JsonObject, settings: GatewaySettings): Entry[];
}

export interface ConfigPlace {
  dir: string;
  files: ConfigFile[];
}

export interface GatewaySettings {
  /** Of this harness, with `/v1`, no token in it. */
  baseUrl: string;
  /** What the harness calls the model. Stays the same whatever adapter answers. */
  modelId: string;
  token: string;
  /** Tokens that the model holds; null: not known. */
  contextTokens: number | null;
}

export interface Connector {
  name: HarnessName;
  /** Where installers put the program besides the PATH, below the home folder. */
  programs: readonly string[];
  /** Variables with which the user says where its settings are. */
  homeVariables: readonly string[];
  locate(whose: Whose): ConfigPlace;
  /** What the user should know before using it so, a sentence each. */
  notes(settings: GatewaySettings, whose: Whose): string[];
}

export const HARNESS_NAMES = ['pi', 'opencode', 'hermes'] as const;
export type HarnessName = (typeof HARNESS_NAMES)[number];

export const DEFAULT_MODEL_ID = 'demo';
/** Longest answer a harness asks for, where the model's own context leaves room. */
export const ANSWER_TOKENS = 4096;

/** An answer may take a quarter of what the model holds. */
export const answerTokens = (contextTokens: number): number => Math.min(ANSWER_TOKENS, Math.floor(contextTokens / 4));

export const count = (tokens: number): string => tokens.toLocaleString('en-US');
