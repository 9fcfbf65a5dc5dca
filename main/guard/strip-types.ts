/** JavaScript of a TypeScript plugin: types are taken out by Node itself, where it can. */
import * as nodeModule from 'node:module';
import { TackroomError } from '../../contract/errors.js';

/** Errors: UNSUPPORTED where this Node cannot, BAD_ARGUMENT for a mistake in the text. */
export function stripTypes(source: string, name: string): string {
  const strip = (nodeModule as unknown as { stripTypeScriptTypes?: (text: string) => string }).stripTypeScriptTypes;
  if (strip === undefined)
    throw new TackroomError(
      'UNSUPPORTED',
      `The plugin ${name} is TypeScript, and this Node (${process.version}) cannot take the types out.`,
      'Use Node 22.13 or newer, or a plugin in JavaScript.',
    );
  try {
    return strip(source);
  } catch (cause) {
    throw new TackroomError(
      'BAD_ARGUMENT',
      `The plugin ${name} is no TypeScript that erases to JavaScript.`,
      'Leave out enums, namespaces and decorators.',
      { cause },
    );
  }
}
