import type { ToolDefinition } from '../protocol.js';
import type { CallFormat, CallReader, ParsedCall } from './answer-parser.js';
import { jsonCall } from './json-call.js';
import { type PythonCalls, pythonCalls } from './python-calls.js';

const OPENER = '<|tool_call_start|>';
const CLOSER = '<|tool_call_end|>';

/** LFM2: a list of Python calls between two control tokens; JSON between them when the prompt asks for it. */
export const LFM2_CALLS: CallFormat = { opener: OPENER, reader: (tools) => new ListReader(tools) };

class ListReader implements CallReader {
  #from = OPENER.length;
  constructor(private readonly tools: readonly ToolDefinition[]) {}

  read(text: string, final: boolean): ReturnType<CallReader['read']> {
    for (let end = text.indexOf(CLOSER, this.#from); end >= 0; end = text.indexOf(CLOSER, this.#from)) {
      this.#from = end + CLOSER.length;
      const calls = this.#calls(text.slice(OPENER.length, end));
      if (Array.isArray(calls)) return { calls, length: this.#from };
      // A closing token inside a string is part of it.
      if (calls === 'malformed') return 'text';
    }
    this.#from = Math.max(this.#from, text.length - CLOSER.length + 1);
    if (!final) return null;
    const calls = this.#calls(text.slice(OPENER.length));
    return Array.isArray(calls) ? { calls, length: text.length } : 'text';
  }

  #calls(body: string): PythonCalls {
    return jsonList(body) ?? pythonCalls(body, this.tools);
  }
}

/** One JSON call or a list of them. */
function jsonList(body: string): ParsedCall[] | null {
  if (!/^\s*(?:\[\s*)?\{/.test(body)) return null;
  try {
    const value: unknown = JSON.parse(body);
    const calls = (Array.isArray(value) ? value : [value]).map((item) => jsonCall(JSON.stringify(item)));
    return calls.length > 0 && calls.every((call) => call !== null) ? calls : null;
  } catch {
    return null;
  }
}
