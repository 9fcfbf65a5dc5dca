import type { ToolDefinition } from '../protocol.js';
import type { CallFormat, CallReader, ParsedCall } from './answer-parser.js';
import { jsonCall } from './json-call.js';
import { JsonScan } from './json-text.js';
import { qwenCoderCall } from './qwen-coder-calls.js';

const OPENER = '<tool_call>';
const CLOSER = '</tool_call>';
const CODER_OPENER = '<function=';
const CODER_END = /<\/function>\s*$/;

/** `<tool_call>` around a JSON object (Hermes, Qwen) or around Qwen3-Coder's function; also where the end is forgotten. */
export const TOOL_CALL_TAG: CallFormat = { opener: OPENER, reader: (tools) => new TagReader(tools) };

class TagReader implements CallReader {
  #from = OPENER.length;
  constructor(private readonly tools: readonly ToolDefinition[]) {}

  read(text: string, final: boolean): ReturnType<CallReader['read']> {
    for (let end = text.indexOf(CLOSER, this.#from); end >= 0; end = text.indexOf(CLOSER, this.#from)) {
      const body = text.slice(OPENER.length, end);
      const call = this.#call(body);
      this.#from = end + CLOSER.length;
      if (call) return { calls: [call], length: this.#from };
      // A closing tag inside a value is part of it; anywhere else the call is over and malformed.
      if (!isOpen(body)) return 'text';
    }
    this.#from = Math.max(this.#from, text.length - CLOSER.length + 1);
    if (!final) return null;
    const call = this.#call(text.slice(OPENER.length));
    return call ? { calls: [call], length: text.length } : 'text';
  }

  #call(body: string): ParsedCall | null {
    return body.trimStart().startsWith(CODER_OPENER) ? qwenCoderCall(body, this.tools) : jsonCall(body);
  }
}

/** Whether a body ends in the middle of a string or of a parameter. */
function isOpen(body: string): boolean {
  const start = body.search(/\S/);
  if (start < 0) return false;
  if (body.startsWith(CODER_OPENER, start)) return !CODER_END.test(body);
  if (body[start] !== '{') return false;
  const scan = new JsonScan(start);
  return scan.end(body) < 0 && scan.inString;
}
