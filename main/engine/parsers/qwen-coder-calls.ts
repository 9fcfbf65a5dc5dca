/**
 * Calls as Qwen3-Coder writes them: `<function=NAME><parameter=KEY>value</parameter>…</function>`, usually inside
 * `<tool_call>`. Values are raw text without any escaping; a parameter ends at a `</parameter>` that another parameter
 * or the end of the function follows.
 */
import type { ToolDefinition } from '../protocol.js';
import type { CallFormat, CallReader, ParsedCall } from './answer-parser.js';
import { isObject } from './json-text.js';

const FUNCTION = /^\s*<function=([^<>\n]+)>\s*/;
const PARAMETER = /^<parameter=([^<>\n]+)>/;
const END = '</function>';
const PARAMETER_END = '</parameter>';

/** The call in `text`, which holds nothing else, or null when it is no such call (or not a whole one). */
export function qwenCoderCall(text: string, tools: readonly ToolDefinition[]): ParsedCall | null {
  const head = FUNCTION.exec(text);
  const name = head?.[1]?.trim();
  if (!head || !name) return null;
  const properties = propertiesOf(tools, name);
  const members = new Map<string, string>();
  let at = head[0].length;
  for (;;) {
    const rest = text.slice(at, at + 512);
    const parameter = PARAMETER.exec(rest);
    const key = parameter?.[1]?.trim();
    if (!parameter || !key) break;
    const from = at + parameter[0].length;
    const end = parameterEnd(text, from);
    if (end < 0 || members.has(key)) return null;
    members.set(key, jsonValue(text.slice(from, end), properties?.[key]));
    at = skipSpace(text, end + PARAMETER_END.length);
  }
  if (!text.startsWith(END, at) || text.slice(at + END.length).trim() !== '') return null;
  const body = [...members].map(([key, value]) => `${JSON.stringify(key)}: ${value}`).join(', ');
  return { name, arguments: `{${body}}` };
}

function parameterEnd(text: string, from: number): number {
  for (let end = text.indexOf(PARAMETER_END, from); end >= 0; end = text.indexOf(PARAMETER_END, end + 1)) {
    const next = skipSpace(text, end + PARAMETER_END.length);
    if (text.startsWith(END, next) || PARAMETER.test(text.slice(next, next + 512))) return end;
  }
  return -1;
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && text[at]!.trim() === '') at++;
  return at;
}

/** JSON of a parameter: by the types its schema allows, a string where it allows one or says nothing. */
function jsonValue(raw: string, schema: unknown): string {
  const text = raw.replace(/^\r?\n/, '').replace(/\r?\n$/, '');
  const types = typesOf(schema);
  if (types.length > 0 && !types.includes('string')) {
    const trimmed = text.trim();
    // Python's names are what the model often means.
    const json = { True: 'true', False: 'false', None: 'null' }[trimmed] ?? trimmed;
    try {
      if (types.includes(typeOfJson(JSON.parse(json)))) return json;
    } catch {
      // Not JSON: the text as it stands says more than an error.
    }
  }
  return JSON.stringify(text);
}

function typeOfJson(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value;
}

function typesOf(schema: unknown): string[] {
  if (!isObject(schema)) return [];
  const own = Array.isArray(schema.type) ? schema.type : [schema.type];
  const inner = ['anyOf', 'oneOf'].flatMap((key) => (Array.isArray(schema[key]) ? schema[key].flatMap(typesOf) : []));
  const types = [...own.filter((type) => typeof type === 'string'), ...inner];
  return types.map((type) => (type === 'integer' ? 'number' : type));
}

function propertiesOf(tools: readonly ToolDefinition[], name: string): Record<string, unknown> | null {
  const parameters = tools.find((tool) => tool.function.name === name)?.function.parameters;
  return isObject(parameters) && isObject(parameters.properties) ? parameters.properties : null;
}

const OUTER_END = '</tool_call>';

/** The model sometimes forgets the `<tool_call>` before the function, not always the one behind it. */
export const BARE_FUNCTION: CallFormat = {
  opener: '<function=',
  reader: (tools) => new FunctionReader(tools),
};

class FunctionReader implements CallReader {
  #from = 0;
  constructor(private readonly tools: readonly ToolDefinition[]) {}

  read(text: string, final: boolean): ReturnType<CallReader['read']> {
    for (let end = text.indexOf(END, this.#from); end >= 0; end = text.indexOf(END, this.#from)) {
      const length = end + END.length;
      const call = qwenCoderCall(text.slice(0, length), this.tools);
      if (call) {
        const after = skipSpace(text, length);
        if (text.startsWith(OUTER_END, after)) return { calls: [call], length: after + OUTER_END.length };
        if (!final && OUTER_END.startsWith(text.slice(after))) return null;
        return { calls: [call], length };
      }
      this.#from = length;
    }
    this.#from = Math.max(this.#from, text.length - END.length + 1);
    return final ? 'text' : null;
  }
}
