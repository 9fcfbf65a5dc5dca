/** Between messages and tokens: what a model's tokenizer, chat template and call syntax come down to. */
import type { ChatMessage, ToolDefinition } from './protocol.js';

export interface ParsedAnswer {
  content: string;
  /** `arguments` is JSON text as sampled. */
  toolCalls: { name: string; arguments: string }[];
}

export interface Codec {
  /** Control tokens come only from the template, never from text inside messages. */
  encodePrompt(messages: ChatMessage[], tools: ToolDefinition[]): number[];
  decode(ids: readonly number[]): string;
  /** Tokens that end an answer. */
  readonly endIds: ReadonlySet<number>;
  /** Text that opens a tool call; streamed text is held back from here on. */
  readonly callOpener: string;
  /** Malformed calls stay text; never throws. */
  parse(text: string): ParsedAnswer;
}
