/** What a scripted model server answers, whichever API it is asked in. */

export interface ScriptedCall {
  /** Absent: the server gives the call none. */
  id?: string;
  name: string;
  /** A string goes out as it is, also when it is no JSON. */
  arguments: Record<string, unknown> | string;
}

/** What goes wrong with an answer half-way: the socket breaks, the stream ends, an event is no JSON, the server reports an error. */
export type Fault = 'breaks' | 'ends' | 'malformed' | 'error';

export interface Said {
  reasoning?: string;
  /** Chat Completions: the field that carries the reasoning. */
  reasoningField?: 'reasoning_content' | 'reasoning';
  text?: string;
  calls?: ScriptedCall[];
  /** In the words of Chat Completions; null: none comes. */
  finish?: string | null;
  /** The name that the server gives the model. */
  model?: string;
  /** null: the server counts nothing. */
  promptTokens?: number | null;
  fault?: Fault;
  /** Chat Completions: no `[DONE]`; calls without index; arguments in one piece; comments between the events. */
  form?: 'no-done' | 'no-index' | 'whole' | 'comments';
  /** A document, whatever was asked for. */
  document?: true;
  /** Before the first byte and before each event, milliseconds. */
  delayMs?: { first?: number; event?: number };
}

export type Reply =
  | Said
  | { status: number; error: Record<string, unknown>; headers?: Record<string, string> }
  | { status: number; html: string }
  /** The socket breaks before any header. */
  | { drop: true }
  /** Nothing ever comes. */
  | { hang: true };

/** The numbers of one answer: ids count up so that every server speaks alike in two runs. */
export interface Frame {
  n: number;
  model: string;
  includeUsage: boolean;
}

export interface Event {
  name: string | null;
  data: unknown;
}

export const eventText = ({ name, data }: Event): string =>
  `${name === null ? '' : `event: ${name}\n`}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;

/** As a tokenizer would: words with the space behind them. */
export const pieces = (text = ''): string[] => text.match(/\S+\s*|\s+/g) ?? [];

export const argumentsText = ({ arguments: value }: ScriptedCall): string =>
  typeof value === 'string' ? value : JSON.stringify(value);

export function cut(text: string, size = 16): string[] {
  const out: string[] = [];
  for (let at = 0; at < text.length; at += size) out.push(text.slice(at, at + size));
  return out;
}

export const finishOf = ({ finish, calls }: Said): string | null =>
  finish === undefined ? (calls === undefined ? 'stop' : 'tool_calls') : finish;
