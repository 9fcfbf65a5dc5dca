/** Between messages and tokens: what a model's tokenizer, chat template and call syntax come down to. */
import type { Delta } from './parsers/answer-parser.js';
import type { ChatMessage, ToolDefinition } from './protocol.js';
import type { StopStrings } from './stop-strings.js';

export interface ParsedAnswer {
  content: string;
  reasoning?: string;
  /** `arguments` is JSON text as sampled. */
  toolCalls: { name: string; arguments: string }[];
}

/** The answer to one prompt, token by token. */
export interface AnswerStream {
  /** `ids`: the tokens since the last call, without the one that ended the answer. Never throws. */
  push(ids: readonly number[]): Delta[];
  finish(): Delta[];
}

export interface Codec {
  /** Control tokens come only from the template, never from text inside messages. */
  encodePrompt(messages: ChatMessage[], tools: ToolDefinition[]): number[];
  decode(ids: readonly number[]): string;
  /** Tokens that end an answer. */
  readonly endIds: ReadonlySet<number>;
  /**
   * `tools`: what the prompt offered; their schemas decide about types where the model's syntax has none. `stops` sees the
   * text before it is taken apart, and nothing of it after a match.
   */
  openAnswer(promptIds: readonly number[], tools: readonly ToolDefinition[], stops?: StopStrings): AnswerStream;
  /** A whole answer. Malformed calls stay text; never throws. */
  parse(text: string): ParsedAnswer;
  /** Bytes that a token adds to the text, those of a control token's name too; null for ids that are never sampled. */
  tokenBytes?(id: number): Uint8Array | null;
  /** Tokens that are not text: their names inside a message are other tokens. */
  readonly controlIds?: ReadonlySet<number>;
  /** How a call is written when its body is JSON with "name" and "arguments"; absent: in another form. */
  readonly jsonCalls?: { open: string; close: string };
}
