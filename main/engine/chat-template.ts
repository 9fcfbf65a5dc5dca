/** Chat templates (Jinja, as Hugging Face's `apply_chat_template` runs them), by `@huggingface/jinja`. */
import { Template } from '@huggingface/jinja';
import { TackroomError } from '../../contract/errors.js';
import { boundsFor, renderBounded } from './bounded-template.js';

/** A message as templates expect it: text content, and arguments of calls as objects. */
export interface TemplateMessage {
  role: string;
  content: string;
  reasoning_content?: string;
  tool_calls?: { id: string; type: 'function'; function: { name: string; arguments: unknown } }[];
  tool_call_id?: string;
  name?: string;
}

export interface TemplateInput {
  messages: TemplateMessage[];
  /** Empty: the template sees none. */
  tools: unknown[];
  bosToken: string;
  eosToken: string;
  addGenerationPrompt?: boolean;
}

/** Used where a model has no template but the tokens `<|im_start|>` and `<|im_end|>`. */
export const CHATML = `{% for message in messages %}{{ '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}`;

/** Used where a model knows no turns at all. */
export const PLAIN_TEXT = `{% for message in messages %}{% if message.role != 'system' %}{{ message.role | capitalize + ': ' }}{% endif %}{{ message.content + '\\n\\n' }}{% endfor %}{% if add_generation_prompt %}{{ 'Assistant:' }}{% endif %}`;

/** UTF-16 units of a template, and of white space in one place: compiling takes the square of the latter. */
const MAX_UNITS = 2 ** 18;
const MAX_SPACES = 512;

export class ChatTemplate {
  /** Whether it puts tool definitions into the prompt. */
  readonly knowsTools: boolean;
  readonly #template: Template;

  /** Throws MODEL_UNSUPPORTED when the template is not understood. Compiled once. */
  constructor(readonly source: string) {
    this.knowsTools = /\btools\b/.test(source);
    try {
      if (source.length > MAX_UNITS) throw new Error('it is too long');
      for (const [spaces] of source.matchAll(/\s+/g))
        if (spaces.length > MAX_SPACES) throw new Error('it has too much white space in one place');
      this.#template = new Template(source);
    } catch (cause) {
      throw new TackroomError(
        'MODEL_UNSUPPORTED',
        `The chat template of this model is not understood: ${reason(cause)}.`,
        'Put a chat_template.jinja that works beside the model.',
        { cause },
      );
    }
  }

  /** The prompt as text. Throws BAD_ARGUMENT when the template refuses the conversation or works without end. */
  render({ messages, tools, bosToken, eosToken, addGenerationPrompt = true }: TemplateInput): string {
    try {
      const variables = {
        messages,
        ...(tools.length > 0 && { tools }),
        bos_token: bosToken,
        eos_token: eosToken,
        add_generation_prompt: addGenerationPrompt,
      };
      const bounds = boundsFor(messages.length + tools.length, JSON.stringify(variables).length);
      return renderBounded(this.#template.parsed, variables, bounds);
    } catch (cause) {
      throw new TackroomError(
        'BAD_ARGUMENT',
        `The chat template of this model refuses the conversation: ${reason(cause)}.`,
        'Some models take no system message, no tools, or only turns that alternate; use another model or a plainer request.',
        { cause },
      );
    }
  }
}

function reason(thrown: unknown): string {
  const text = thrown instanceof Error ? thrown.message : String(thrown);
  return text.slice(0, 1000).replace(/\s+/g, ' ').replace(/\.$/, '').slice(0, 300);
}
