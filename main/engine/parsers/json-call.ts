import type { ParsedCall } from './answer-parser.js';
import { isObject, memberText, parseObject } from './json-text.js';

/**
 * A call written as one JSON object with `name` and `arguments` (Hermes, Qwen) or `parameters` (Llama 3), or null. Left
 * out arguments are none; arguments in a string are read as the JSON they hold.
 */
export function jsonCall(text: string): ParsedCall | null {
  const call = parseObject(text);
  if (!call || typeof call.name !== 'string' || call.name.trim() === '') return null;
  const key = ['arguments', 'parameters'].find((name) => Object.hasOwn(call, name));
  const args = key === undefined ? null : call[key];
  const name = call.name.trim();
  if (args === null || args === undefined || args === '') return { name, arguments: '{}' };
  if (typeof args === 'string') return parseObject(args) ? { name, arguments: args.trim() } : null;
  return isObject(args) ? { name, arguments: memberText(text, key!) ?? JSON.stringify(args) } : null;
}
