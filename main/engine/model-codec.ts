/** The codec of any model: its tokenizer, its chat template and the syntax it answers in. */
import { TackroomError } from '../../contract/errors.js';
import { CHATML, ChatTemplate, PLAIN_TEXT } from './chat-template.js';
import type { AnswerStream, Codec } from './codec.js';
import type { AnswerFormats, Delta } from './parsers/answer-parser.js';
import { detectFormats } from './parsers/detect-formats.js';
import { MarkupParser } from './parsers/markup-parser.js';
import { parseAnswer } from './parsers/parse-answer.js';
import { TOOL_CALL_TAG } from './parsers/tool-call-tag.js';
import { PromptGuard } from './prompt-guard.js';
import type { ChatMessage, ToolDefinition } from './protocol.js';
import { StopStrings } from './stop-strings.js';
import { type OddArguments, templateMessages, toolsAsText } from './template-messages.js';
import type { Tokenizer } from './tokenizer/tokenizer.js';

/** Tokens at the end of a prompt that are looked at for an opened `<think>`. */
const PROMPT_TAIL = 16;

export interface ModelCodec extends Codec {
  readonly tokenizer: Tokenizer;
  readonly formats: AnswerFormats;
  /** The prompt as text; without `generate` it ends behind the last message. */
  renderPrompt(messages: readonly ChatMessage[], tools: readonly ToolDefinition[], generate?: boolean): string;
}

/** `template`: the model's own, null where it has none. Throws MODEL_UNSUPPORTED for a template that does not compile. */
export function modelCodec(tokenizer: Tokenizer, template: string | null): ModelCodec {
  const chat = new ChatTemplate(template ?? defaultTemplate(tokenizer));
  const formats = detectFormats(chat.source, (token) => tokenizer.added.has(token));
  const guard = new PromptGuard(guardedTexts(tokenizer, chat.source));

  const renderWith = (
    messages: readonly ChatMessage[],
    tools: readonly ToolDefinition[],
    odd: OddArguments,
    generate: boolean,
  ) => {
    const plain = templateMessages(messages, odd);
    return guard.render([plain, tools], (mark) => {
      const marked = plain.map(({ role, ...rest }) => ({ ...mark(rest), role }));
      const definitions = mark(tools);
      const asText = !chat.knowsTools;
      return chat.render({
        messages: asText ? toolsAsText(marked, definitions) : marked,
        tools: asText ? [] : [...definitions],
        bosToken: tokenText(tokenizer, tokenizer.bosId),
        eosToken: tokenText(tokenizer, tokenizer.eosId),
        addGenerationPrompt: generate,
      });
    });
  };
  const render = (messages: readonly ChatMessage[], tools: readonly ToolDefinition[], generate = true) => {
    try {
      return renderWith(messages, tools, 'as-text', generate);
    } catch (error) {
      // A template that lists the arguments one by one cannot do so with text that is no object.
      const hasCalls = messages.some((message) => message.tool_calls?.length);
      if (!hasCalls || !(error instanceof TackroomError)) throw error;
      return renderWith(messages, tools, 'wrapped', generate);
    }
  };

  return {
    tokenizer,
    formats,
    endIds: tokenizer.endIds,
    renderPrompt: (messages, tools, generate) => render(messages, tools, generate).text,
    encodePrompt(messages, tools) {
      const { text, breaks } = render(messages, tools);
      const ids = tokenizer.encode(text, { special: true, breaks });
      return tokenizer.addBos && tokenizer.bosId !== null && ids[0] !== tokenizer.bosId
        ? [tokenizer.bosId, ...ids]
        : ids;
    },
    decode: (ids) => tokenizer.decode(ids),
    openAnswer(promptIds, tools, stops = new StopStrings([])) {
      const thinking = formats.reasoning && /<think>\s*$/.test(tokenizer.decode(promptIds.slice(-PROMPT_TAIL)));
      return new ModelAnswer(tokenizer, new MarkupParser(formats, tools, thinking), stops);
    },
    parse: (text) => parseAnswer(text, formats),
    tokenBytes: (id) => tokenizer.decodeBytes([id], { continued: true }),
    controlIds: new Set([...tokenizer.added.values()].flatMap(({ id, control }) => (control ? [id] : []))),
    // A model that may answer in another form too cannot be held to this one.
    jsonCalls:
      formats.calls.length === 1 && formats.calls[0] === TOOL_CALL_TAG
        ? { open: TOOL_CALL_TAG.opener, close: '</tool_call>' }
        : undefined,
  };
}

/** Decodes token by token: the bytes of a character may be spread over several. */
class ModelAnswer implements AnswerStream {
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  #first = true;
  constructor(
    private readonly tokenizer: Tokenizer,
    private readonly parser: MarkupParser,
    private readonly stops: StopStrings,
  ) {}

  push(ids: readonly number[]): Delta[] {
    if (ids.length === 0) return [];
    // Only the first token of an answer may have a space that is the tokenizer's own.
    const bytes = this.#first ? this.tokenizer.decodeBytes(ids) : this.tokenizer.decodeBytes(ids, { continued: true });
    this.#first = false;
    return this.parser.push(this.stops.push(this.#decoder.decode(bytes, { stream: true })));
  }

  finish(): Delta[] {
    const rest = this.stops.push(this.#decoder.decode()) + this.stops.finish();
    return [...this.parser.push(rest), ...this.parser.finish()];
  }
}

function tokenText(tokenizer: Tokenizer, id: number | null): string {
  return id === null ? '' : (tokenizer.idToToken(id) ?? '');
}

function defaultTemplate(tokenizer: Tokenizer): string {
  return tokenizer.added.has('<|im_start|>') && tokenizer.added.has('<|im_end|>') ? CHATML : PLAIN_TEXT;
}

/**
 * What text in messages must not become: control tokens, and the user-defined tokens that the template builds its
 * structure from, such as `<tool_call>`.
 */
function guardedTexts(tokenizer: Tokenizer, template: string): string[] {
  const isMarkup = (text: string) => /^[<[]/.test(text) && template.includes(text);
  return [...tokenizer.added.values()]
    .filter(({ content, control }) => content.length > 1 && (control || isMarkup(content)))
    .map(({ content }) => content);
}
