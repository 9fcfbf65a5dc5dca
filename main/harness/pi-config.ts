/** pi's own configuration files (its docs: models-configuration.md, settings.md; version 1.6). */

export const PI_PROVIDER = 'tackroom';

export interface PiModelOptions {
  /** Of the provider, with `/v1`. */
  baseUrl: string;
  modelId: string;
  apiKey: string;
  /** pi sends its session id as headers, so that requests can be grouped without guessing. */
  sessionHeaders: boolean;
  /** Tokens; pi compacts its history near the first and asks for at most the second. */
  contextWindow?: number;
  maxTokens?: number;
}

/** The entry `providers.tackroom` of models.json. */
export function piProvider(options: PiModelOptions): Record<string, unknown> {
  return {
    baseUrl: options.baseUrl,
    api: 'openai-completions',
    apiKey: options.apiKey,
    compat: {
      sendSessionAffinityHeaders: options.sessionHeaders,
      sessionAffinityFormat: 'openai',
      supportsStore: false,
      maxTokensField: 'max_tokens',
    },
    models: [
      {
        id: options.modelId,
        name: `Tackroom ${options.modelId}`,
        reasoning: false,
        contextWindow: options.contextWindow ?? 32_768,
        maxTokens: options.maxTokens ?? 4096,
      },
    ],
  };
}

const toText = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

/** Content of models.json with Tackroom as the only provider. */
export function piModelsJson(options: PiModelOptions): string {
  return toText({ providers: { [PI_PROVIDER]: piProvider(options) } });
}

/**
 * Content of settings.json for rollouts: no retries and no compaction, since what the gateway answers is final there
 * and its budgets decide when a rollout is over.
 */
export function piSettingsJson(modelId: string): string {
  return toText({
    defaultProvider: PI_PROVIDER,
    defaultModel: modelId,
    defaultThinkingLevel: 'off',
    retry: { enabled: false },
    compaction: { enabled: false },
  });
}
