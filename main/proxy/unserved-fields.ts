/**
 * Fields of a Chat Completions request that would change the answer and that the engine has nothing for: OpenAI's, and the
 * extensions of vLLM and llama.cpp. Not in here: fields that only describe the caller or the service (user, metadata, store,
 * service_tier), and those that harnesses send as a preference (reasoning_effort, logprobs, chat_template_kwargs).
 */
type Harmless = (value: unknown) => boolean;

const empty: Harmless = (value) =>
  value === '' || (typeof value === 'object' && value !== null && Object.keys(value).length === 0);
const oneOf =
  (...values: unknown[]): Harmless =>
  (value) =>
    values.includes(value);

/** The values with which a field changes nothing; an absent or null one never does. */
const HARMLESS: Record<string, Harmless> = {
  best_of: oneOf(1),
  logit_bias: empty,
  presence_penalty: oneOf(0),
  frequency_penalty: oneOf(0),
  repeat_penalty: oneOf(1),
  typical_p: oneOf(1),
  min_tokens: oneOf(0),
  ignore_eos: oneOf(false),
  stop_token_ids: empty,
  echo: oneOf(false),
  suffix: empty,
  continue_final_message: oneOf(false),
  functions: empty,
  function_call: oneOf('none', 'auto'),
  modalities: (value) => Array.isArray(value) && value.every((kind) => kind === 'text'),
  audio: empty,
  web_search_options: () => false,
  grammar: empty,
  json_schema: empty,
  guided_json: empty,
  guided_regex: empty,
  guided_choice: empty,
  guided_grammar: empty,
  structured_outputs: empty,
};
/** The same for fields that are about tools, where there are some. */
const HARMLESS_WITH_TOOLS: Record<string, Harmless> = {
  tool_choice: oneOf('auto', 'none'),
  parallel_tool_calls: oneOf(true),
};

/** The first field of a request body that the engine would have to disregard. */
export function unservedField(raw: Readonly<Record<string, unknown>>, hasTools: boolean): string | undefined {
  const harmless = hasTools ? { ...HARMLESS, ...HARMLESS_WITH_TOOLS } : HARMLESS;
  return Object.keys(harmless).find((field) => {
    const value = raw[field] ?? null;
    return value !== null && !harmless[field]!(value);
  });
}
