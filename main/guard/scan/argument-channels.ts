/** Sorts the strings of a call's arguments into channels by key and shape; payload keys first, as written text is no command. */
import type { Channel, Piece } from './trace.js';

const PAYLOAD =
  /^(?:content|contents|new_?string|new_?text|new_?str|file_?text|text|prompt|description|pattern|patch|diff|insert_?text|body|new_?content)$/i;
const OLD_TEXT = /^(?:old_?string|old_?text|old_?str)$/i;
const COMMAND = /^(?:command|cmd|script|code|keystrokes|chars|argv|shell)$/i;
const URL_KEY = /^(?:urls?|uri|endpoint)$/i;
const QUERY = /^(?:query|q|queries)$/i;
const PATH =
  /^(?:path|paths|file|file_?path|filename|dir|directory|folder|cwd|workdir|target|destination|notebook_path)$/i;
const PATH_SHAPE = /^(?:~|\.{1,2})?\/[^\s'"]{0,4000}$/;
const MAX_PIECES = 2000;
const MAX_TEXT = 400_000;

export function argumentPieces(
  tool: string,
  args: Record<string, unknown>,
): Pick<Piece, 'channel' | 'field' | 'text'>[] {
  const out: Pick<Piece, 'channel' | 'field' | 'text'>[] = [];
  const visit = (value: unknown, key: string, field: string, depth: number): void => {
    if (out.length >= MAX_PIECES || depth > 12) return;
    if (typeof value === 'string') {
      if (!OLD_TEXT.test(key))
        out.push({ channel: channelOf(tool, key, value), field, text: value.slice(0, MAX_TEXT) });
    } else if (Array.isArray(value)) {
      if (COMMAND.test(key) && value.every((word) => typeof word === 'string'))
        out.push({ channel: 'command', field, text: value.join(' ').slice(0, MAX_TEXT) });
      else for (const [i, item] of value.entries()) visit(item, key, `${field}.${i}`, depth + 1);
    } else if (value !== null && typeof value === 'object')
      for (const [name, item] of Object.entries(value)) visit(item, name, field ? `${field}.${name}` : name, depth + 1);
  };
  visit(args, '', '', 0);
  return out;
}

function channelOf(tool: string, key: string, value: string): Channel {
  if (PAYLOAD.test(key)) return 'payload';
  if (URL_KEY.test(key) || /^(?:https?|ftp|git|ssh|wss?):\/\/\S+$/i.test(value)) return 'url';
  if (COMMAND.test(key) || (key === 'data' && /process|terminal|shell|bash/i.test(tool))) return 'command';
  if (QUERY.test(key)) return 'query';
  if (PATH.test(key) || PATH_SHAPE.test(value)) return 'path';
  return 'arguments';
}
