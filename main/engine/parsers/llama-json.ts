/**
 * Calls as Llama 3 writes them: `{"name": …, "parameters": {…}}`, several with `;` between, after `<|python_tag|>` or
 * with nothing before them. Without the tag only the name of a known tool makes an object a call: JSON is also an answer.
 */
import type { ToolDefinition } from '../protocol.js';
import type { CallFormat, CallReader } from './answer-parser.js';
import { jsonCall } from './json-call.js';
import { JsonScan } from './json-text.js';

const TAG = '<|python_tag|>';

export const PYTHON_TAG: CallFormat = { opener: TAG, reader: () => new JsonReader(TAG.length, null) };

export const BARE_JSON: CallFormat = {
  opener: '{',
  onlyFirst: true,
  reader: (tools) => new JsonReader(0, tools),
};

/** How the key that comes first in a call begins; anything else is an answer in JSON and need not be held back. */
const FIRST_KEYS = ['"name"', '"type"', '"function"', '"parameters"', '"arguments"'];

class JsonReader implements CallReader {
  #scan: JsonScan | null = null;

  constructor(
    private readonly from: number,
    /** Null: any name will do. */
    private readonly tools: readonly ToolDefinition[] | null,
  ) {}

  read(text: string, final: boolean): ReturnType<CallReader['read']> {
    let start = this.from;
    while (start < text.length && text[start]!.trim() === '') start++;
    if (start === text.length) return final ? 'text' : null;
    if (text[start] !== '{' || !mayBeCall(text, start + 1)) return 'text';
    this.#scan ??= new JsonScan(start);
    const end = this.#scan.end(text);
    if (end < 0) return final ? 'text' : null;
    const call = jsonCall(text.slice(start, end));
    if (!call || this.tools?.every((tool) => tool.function.name !== call.name)) return 'text';
    return { calls: [call], length: end };
  }
}

function mayBeCall(text: string, from: number): boolean {
  let at = from;
  while (at < text.length && text[at]!.trim() === '') at++;
  const rest = text.slice(at, at + 16);
  return FIRST_KEYS.some((key) => rest.startsWith(key) || key.startsWith(rest));
}
