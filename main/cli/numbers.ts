/** Numbers from the command line. */
import { TackroomError } from '../../contract/errors.js';

/** A whole number from `least` to `most`. Errors: BAD_ARGUMENT, naming `option`. */
export function wholeNumber(option: string, text: string, least: number, most = Number.MAX_SAFE_INTEGER): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isInteger(value) || value < least || value > most)
    throw new TackroomError(
      'BAD_ARGUMENT',
      `${option} must be a whole number ${most === Number.MAX_SAFE_INTEGER ? `from ${least}` : `from ${least} to ${most}`}, not ${JSON.stringify(text)}.`,
    );
  return value;
}

/** A port to listen on; 0 takes any free one. */
export const portNumber = (option: string, text: string): number => wholeNumber(option, text, 0, 65_535);

/** A sampling temperature; 0 is greedy. */
export function temperatureOf(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !(value >= 0 && value <= 10))
    throw new TackroomError(
      'BAD_ARGUMENT',
      `--temperature must be a number from 0 to 10, not ${JSON.stringify(text)}.`,
    );
  return value;
}

const UNITS: Record<string, number> = { '': 1, k: 2 ** 10, m: 2 ** 20, g: 2 ** 30, t: 2 ** 40 };

/** `2GiB`, `512M`, `1000000`. Throws BAD_ARGUMENT naming the option. */
export function sizeInBytes(option: string, text: string): number {
  const match = /^(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?$/i.exec(text.trim());
  const bytes = match ? Math.floor(Number(match[1]) * UNITS[match[2]!.toLowerCase()]!) : 0;
  if (bytes <= 0)
    throw new TackroomError('BAD_ARGUMENT', `${option} must be a size such as 512MiB or 2GiB, not ${text}.`);
  return bytes;
}
