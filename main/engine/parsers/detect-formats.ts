import type { AnswerFormats, CallFormat } from './answer-parser.js';
import { LFM2_CALLS } from './lfm2-calls.js';
import { BARE_JSON, PYTHON_TAG } from './llama-json.js';
import { BARE_FUNCTION } from './qwen-coder-calls.js';
import { TOOL_CALL_TAG } from './tool-call-tag.js';

/**
 * Which markup a model answers in, by what its chat template teaches it and which tokens it has. `<tool_call>` is
 * always understood: prompts for models that know no tools ask for it.
 */
export function detectFormats(template: string, hasToken: (token: string) => boolean): AnswerFormats {
  const calls: CallFormat[] = [TOOL_CALL_TAG];
  if (template.includes('<function=')) calls.push(BARE_FUNCTION);
  if (template.includes('<|tool_call_start|>') || hasToken('<|tool_call_start|>')) calls.push(LFM2_CALLS);
  // Llama 3.1 and 3.2 speak of Environment: ipython and of "parameters", with the tag in the vocabulary.
  const llama = hasToken('<|python_tag|>') || template.includes('<|python_tag|>');
  if (llama) calls.push(PYTHON_TAG);
  if (llama || /"parameters":/.test(template)) calls.push(BARE_JSON);
  return { calls, reasoning: template.includes('<think>') || template.includes('</think>') || hasToken('<think>') };
}
