/** What a model says, taken apart while it says it. */
import type { ToolDefinition } from '../protocol.js';

/**
 * A piece of an answer. A call comes as one start, its arguments, one end, and only once it is whole and well formed:
 * what has been said cannot be taken back.
 */
export type Delta =
  | { kind: 'text'; text: string }
  | { kind: 'reasoning'; text: string }
  | { kind: 'tool_call_start'; name: string; id?: string }
  | { kind: 'tool_call_args'; text: string }
  | { kind: 'tool_call_end' };

export interface AnswerParser {
  /** `text`: what came since the last call. Never throws. */
  push(text: string): Delta[];
  /** The answer is over: what is still undecided is decided now. */
  finish(): Delta[];
}

export interface ParsedCall {
  name: string;
  /** JSON text of an object, as the model wrote it where it wrote JSON. */
  arguments: string;
}

/** How one opener of a call goes on. A fresh reader for each time the opener is met. */
export interface CallReader {
  /**
   * `text` begins with the opener and grows from call to call. Null while more is needed (never when `final`), 'text'
   * when this is no call, else the calls and how many characters they took.
   */
  read(text: string, final: boolean): { calls: ParsedCall[]; length: number } | 'text' | null;
}

export interface CallFormat {
  opener: string;
  /** Only where nothing but white space and calls came before: an opener that ordinary text may contain. */
  onlyFirst?: boolean;
  reader(tools: readonly ToolDefinition[]): CallReader;
}

export interface AnswerFormats {
  calls: readonly CallFormat[];
  /** Whether `<think>…</think>` at the start of an answer is reasoning. */
  reasoning: boolean;
}
