/** Parses a JSON body within limits. */
import { HttpError } from './http-error.js';

/** Deeper JSON than any tool schema; keeps recursive code safe. */
const MAX_DEPTH = 128;

/** Throws 400 for anything that is not one JSON object, or that is nested too deeply. */
export function parseJsonBody(bytes: Buffer): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString('utf8'));
  } catch {
    throw new HttpError(400, 'BAD_ARGUMENT', 'The body is not valid JSON.');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new HttpError(400, 'BAD_ARGUMENT', 'The body must be a JSON object.');
  checkDepth(value);
  return value as Record<string, unknown>;
}

/** Whether JSON is nested deeper than `checkDepth` allows; the rough count of brackets, strings and all, comes first. */
export function isDeep(text: string, value: unknown): boolean {
  let [depth, deepest] = [0, 0];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at) | 0x20;
    // Brackets and braces differ in this bit.
    if (code === 0x7b) deepest = Math.max(deepest, ++depth);
    else if (code === 0x7d) depth--;
  }
  if (deepest <= MAX_DEPTH || typeof value !== 'object' || value === null) return false;
  try {
    checkDepth(value);
    return false;
  } catch {
    return true;
  }
}

/** Throws 400. */
export function checkDepth(root: object): void {
  let level: object[] = [root];
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > MAX_DEPTH)
      throw new HttpError(400, 'BAD_ARGUMENT', `The JSON is nested deeper than ${MAX_DEPTH} levels.`);
    const next: object[] = [];
    for (const item of level)
      for (const member of Object.values(item))
        if (typeof member === 'object' && member !== null) next.push(member as object);
    level = next;
  }
}
