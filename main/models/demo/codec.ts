import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AnswerStream, Codec } from '../../engine/codec.js';
import { DecodedText } from '../../engine/decoded-text.js';
import type { Delta } from '../../engine/parsers/answer-parser.js';
import type { ChatMessage, ToolDefinition } from '../../engine/protocol.js';
import { StopStrings } from '../../engine/stop-strings.js';
import { StreamText } from '../../engine/stream-text.js';
import { BpeTokenizer } from './bpe.js';
import { checkedDemoFile } from './check-tokenizer.js';
import { parseAnswer } from './parse-answer.js';
import { renderSegments } from './render.js';
import { CONTROL_TOKENS } from './tokenizer-file.js';

/** Whether a `tokenizer.json` is that of the demo model: its control tokens stand at the head of the vocabulary. */
export function isDemoTokenizer(file: { added_tokens?: unknown }): boolean {
  const added: unknown[] = Array.isArray(file.added_tokens) ? file.added_tokens : [];
  const texts = new Map(
    added.map((token) => {
      const { id, content } = (token ?? {}) as { id?: unknown; content?: unknown };
      return [id, content];
    }),
  );
  return CONTROL_TOKENS.every((token, id) => texts.get(id) === token);
}

/** Codec of a demo model folder; its `tokenizer.json` must be complete (see `completeTokenizer`). Throws TOKENIZER_MISMATCH. */
export function createDemoCodec(dir: string): Codec {
  return demoCodec(new BpeTokenizer(checkedDemoFile(JSON.parse(readFileSync(join(dir, 'tokenizer.json'), 'utf8')))));
}

export function demoCodec(tokenizer: BpeTokenizer): Codec {
  return {
    encodePrompt: (messages, tools) => encodePrompt(tokenizer, messages, tools),
    decode: (ids) => tokenizer.decode(ids),
    endIds: new Set([tokenizer.control('<|end|>')]),
    openAnswer: (_promptIds, _tools, stops = new StopStrings([])) => new DemoAnswer(tokenizer, stops),
    parse: parseAnswer,
    tokenBytes: (id) => tokenizer.tokenBytes(id),
    controlIds: tokenizer.controlIds,
    jsonCalls: { open: '<tool_call>', close: '</tool_call>' },
  };
}

/** Text as it is decided; calls at the end, when all of the answer is known. */
class DemoAnswer implements AnswerStream {
  readonly #ids: number[] = [];
  readonly #decoded: DecodedText;
  readonly #stream = new StreamText('<tool_call>');
  #text = '';
  constructor(
    tokenizer: BpeTokenizer,
    private readonly stops: StopStrings,
  ) {
    this.#decoded = new DecodedText((ids) => tokenizer.decode(ids));
  }

  push(ids: readonly number[]): Delta[] {
    this.#ids.push(...ids);
    this.#text += this.stops.push(this.#decoded.push(this.#ids));
    return textDeltas(this.#stream.push(this.#text));
  }

  finish(): Delta[] {
    this.#text += this.stops.push(this.#decoded.push(this.#ids, true)) + this.stops.finish();
    const { content, toolCalls } = parseAnswer(this.#text);
    return [
      ...textDeltas(this.#stream.finish(content)),
      ...toolCalls.flatMap(({ name, arguments: text }): Delta[] => [
        { kind: 'tool_call_start', name },
        { kind: 'tool_call_args', text },
        { kind: 'tool_call_end' },
      ]),
    ];
  }
}

function textDeltas(text: string): Delta[] {
  return text === '' ? [] : [{ kind: 'text', text }];
}

/** Token ids of the prompt. Control tokens come from the template alone; the same text inside a message stays text. */
export function encodePrompt(
  tokenizer: BpeTokenizer,
  messages: readonly ChatMessage[],
  tools: readonly ToolDefinition[],
): number[] {
  const ids: number[] = [];
  for (const { text, control } of renderSegments(messages, tools)) {
    for (const id of tokenizer.encode(text, control)) ids.push(id);
  }
  return ids;
}
