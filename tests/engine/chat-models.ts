/**
 * Small models with the chat formats of real ones: a reference vocabulary of 320 tokens with the added tokens and a
 * template of each family, written for these tests after the families' published prompt formats.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ModelCodec, modelCodec } from '../../main/engine/model-codec.js';
import type { TokenizerJson } from '../../main/engine/tokenizer/checked-file.js';
import { tokenizerFromJson } from '../../main/engine/tokenizer/from-json.js';

interface Family {
  template: string | null;
  control: readonly string[];
  userDefined?: readonly string[];
  bosToken?: string;
  addBos?: boolean;
}

const QWEN_TEMPLATE = `{%- if tools %}
{{- '<|im_start|>system\\n' }}
{%- if messages[0].role == 'system' %}{{- messages[0].content + '\\n\\n' }}{%- endif %}
{{- '# Tools\\n<tools>' }}
{%- for tool in tools %}{{- '\\n' }}{{- tool | tojson }}{%- endfor %}
{{- '\\n</tools>\\nAnswer with <tool_call></tool_call>.<|im_end|>\\n' }}
{%- elif messages[0].role == 'system' %}
{{- '<|im_start|>system\\n' + messages[0].content + '<|im_end|>\\n' }}
{%- endif %}
{%- for message in messages %}
{%- if message.role == 'user' or (message.role == 'system' and not loop.first) %}
{{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}
{%- elif message.role == 'assistant' %}
{%- set content = message.content %}
{%- if '</think>' in content %}{%- set content = content.split('</think>')[-1].lstrip('\\n') %}{%- endif %}
{{- '<|im_start|>assistant\\n' }}
{%- if message.reasoning_content is string %}{{- '<think>\\n' + message.reasoning_content.strip('\\n') + '\\n</think>\\n\\n' }}{%- endif %}
{{- content }}
{%- if message.tool_calls %}{%- for call in message.tool_calls %}
{{- '\\n<tool_call>\\n{"name": "' }}{{- call.function.name }}{{- '", "arguments": ' }}
{{- call.function.arguments if call.function.arguments is string else call.function.arguments | tojson }}
{{- '}\\n</tool_call>' }}
{%- endfor %}{%- endif %}
{{- '<|im_end|>\\n' }}
{%- elif message.role == 'tool' %}
{%- if loop.first or messages[loop.index0 - 1].role != 'tool' %}{{- '<|im_start|>user' }}{%- endif %}
{{- '\\n<tool_response>\\n' + message.content + '\\n</tool_response>' }}
{%- if loop.last or messages[loop.index0 + 1].role != 'tool' %}{{- '<|im_end|>\\n' }}{%- endif %}
{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{%- if open_think is not defined %}{{- '<think>\\n' }}{%- endif %}{%- endif %}`;

const CODER_TEMPLATE = `{%- for message in messages %}
{{- '<|im_start|>' + message.role + '\\n' + message.content }}
{%- if message.tool_calls %}{%- for call in message.tool_calls %}
{{- '\\n<tool_call>\\n<function=' + call.function.name + '>\\n' }}
{%- for key, value in call.function.arguments | items %}
{{- '<parameter=' + key + '>\\n' }}{{- value if value is string else value | tojson }}{{- '\\n</parameter>\\n' }}
{%- endfor %}
{{- '</function>\\n</tool_call>' }}
{%- endfor %}{%- endif %}
{{- '<|im_end|>\\n' }}
{%- endfor %}
{%- if tools %}{{- tools | length }}{%- endif %}`;

const LLAMA_TEMPLATE = `{{- bos_token }}
{%- for message in messages %}
{{- '<|start_header_id|>' + message.role + '<|end_header_id|>\\n\\n' }}
{%- if message.tool_calls %}
{{- '{"name": "' + message.tool_calls[0].function.name + '", "parameters": ' }}{{- message.tool_calls[0].function.arguments | tojson }}{{- '}' }}
{%- else %}{{- message.content | trim }}{%- endif %}
{{- '<|eot_id|>' }}
{%- endfor %}
{%- if tools is not none and tools is defined %}{{- tools | tojson(indent=4) }}{%- endif %}
{%- if add_generation_prompt %}{{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}{%- endif %}`;

const STRICT_TEMPLATE = `{%- for message in messages %}
{%- if (message.role == 'user') != (loop.index0 % 2 == 0) %}{{- raise_exception('Roles must alternate') }}{%- endif %}
{{- '<|im_start|>' + message.role + '\\n' + message.content | trim + '<|im_end|>' }}
{%- endfor %}`;

const CHATML_TOKENS = ['<|endoftext|>', '<|im_start|>', '<|im_end|>'];
const MARKUP = ['<tool_call>', '</tool_call>', '<tool_response>', '</tool_response>', '<think>', '</think>'];

export const FAMILIES = {
  qwen: { template: QWEN_TEMPLATE, control: CHATML_TOKENS, userDefined: MARKUP },
  coder: { template: CODER_TEMPLATE, control: CHATML_TOKENS, userDefined: MARKUP },
  llama: {
    template: LLAMA_TEMPLATE,
    control: ['<|begin_of_text|>', '<|start_header_id|>', '<|end_header_id|>', '<|eot_id|>', '<|python_tag|>'],
    bosToken: '<|begin_of_text|>',
    addBos: true,
  },
  lfm2: { template: null, control: [...CHATML_TOKENS, '<|tool_call_start|>', '<|tool_call_end|>'] },
  strict: { template: STRICT_TEMPLATE, control: CHATML_TOKENS },
  plain: { template: null, control: ['<s>', '</s>'], bosToken: '<s>', addBos: true },
} satisfies Record<string, Family>;

/** `shared`: the folder of golden data. */
export function chatModel(shared: string, family: keyof typeof FAMILIES): ModelCodec {
  const { template, control, userDefined = [], bosToken, addBos }: Family = FAMILIES[family];
  const file = JSON.parse(
    readFileSync(join(shared, 'golden', 'tokenizer', 'qwen2.tokenizer.json'), 'utf8'),
  ) as TokenizerJson;
  const added = [...control, ...userDefined];
  file.added_tokens = added.map((content, index) => ({ id: 320 + index, content, special: index < control.length }));
  // The vocabulary spells the reference's own control tokens; these models have theirs.
  for (const token of CHATML_TOKENS) delete (file.model.vocab as Record<string, number>)[token];
  return modelCodec(tokenizerFromJson(file, { bosToken, addBos }), template);
}
