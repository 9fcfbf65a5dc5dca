/** Filters whose output can be told from their input: `tr`, `sed s`, `cut`, decoders, interpreters printing a literal. */
import { gunzipSync } from 'node:zlib';
import { codeFacts } from './code-facts.js';

const MAX_BYTES = 100_000;

/** `tr SET1 SET2`, `tr -d SET`; ranges such as `a-z`. Options other than -d change nothing. */
export function translate(text: string, args: string[]): string {
  const [from = '', to = ''] = args.filter((arg) => !/^-[a-z]+$/.test(arg)).map(characters);
  if (args.some((arg) => /^-\w*d/.test(arg))) return [...text].filter((c) => !from.includes(c)).join('');
  if (to === '') return text;
  const table = new Map([...from].map((c, i) => [c, to[Math.min(i, to.length - 1)]!]));
  return [...text].map((c) => table.get(c) ?? c).join('');
}

function characters(set: string): string {
  const named = set
    .replaceAll('[:upper:]', 'A-Z')
    .replaceAll('[:lower:]', 'a-z')
    .replaceAll('[:digit:]', '0-9')
    .replaceAll('[:space:]', ' \t\n')
    .replaceAll('\\n', '\n');
  return named.replace(/([\s\S])-([\s\S])/g, (all, a: string, b: string) => {
    const [low, high] = [a.charCodeAt(0), b.charCodeAt(0)];
    return high < low || high - low > 256
      ? all
      : String.fromCharCode(...Array.from({ length: high - low + 1 }, (_, i) => low + i));
  });
}

/** Plain `s` commands of a sed script; what else it holds changes nothing here. */
export function substitute(text: string, args: string[]): string {
  let out = text;
  for (const script of args.filter((arg) => !/^-[a-zA-Z]+$/.test(arg)).slice(0, 10))
    for (const command of script.split(/(?<=[\w/|#,]);/).slice(0, 20)) {
      const match = /^\s*s([/|#,@:!])((?:\\.|(?!\1)[^\\]){1,300})\1((?:\\.|(?!\1)[^\\]){0,300})\1([gI0-9]*)$/s.exec(
        command,
      );
      if (!match) continue;
      const [what, by] = [match[2]!, match[3]!].map((part) => part.replace(/\\(.)/gs, '$1'));
      if (/[.*[\]^$+?(){}|]/.test(what!.replace(/[./]/g, ''))) continue;
      out = match[4]!.includes('g') ? out.replaceAll(what!, by!) : out.replace(what!, () => by!);
      if (out.length > MAX_BYTES) return text;
    }
  return out;
}

/** `cut -c A-B`, `cut -d X -f N`. */
export function cut(text: string, args: string[]): string {
  const value = (flag: string): string | undefined => {
    const at = args.findIndex((arg) => arg.startsWith(flag));
    return at < 0 ? undefined : args[at]!.length > 2 ? args[at]!.slice(2) : args[at + 1];
  };
  const range = (value('-c') ?? value('-f') ?? '').split(',')[0]!.split('-');
  const from = Math.max(1, Number(range[0]) || 1);
  const to = range.length > 1 ? Number(range[1]) || Number.MAX_SAFE_INTEGER : from;
  const glue = value('-d') ?? '\t';
  return text
    .split('\n')
    .map((line) =>
      value('-c') !== undefined
        ? line.slice(from - 1, to)
        : line
            .split(glue)
            .slice(from - 1, to)
            .join(glue),
    )
    .join('\n');
}

/** Output of a decoder for `input`; bytes that are no UTF-8 travel as Latin-1. Null when it is not one, or fails. */
export function decoded(program: string, args: string[], input: string | null): string | null {
  if (input === null) return null;
  try {
    if (program === 'openssl')
      return args.includes('-d') && /base64|enc/.test(args[0] ?? '') ? textOf(Buffer.from(input, 'base64')) : null;
    if (program === 'base32') return args.some((arg) => /^(?:-d|--decode)$/.test(arg)) ? base32(input) : null;
    if (program === 'gzip' && !args.some((arg) => /^-\w*d|^--decompress/.test(arg))) return null;
    return textOf(gunzipSync(Buffer.from(input, 'latin1'), { maxOutputLength: MAX_BYTES }));
  } catch {
    return null;
  }
}

/** Gzip data stay bytes, everything else is read as UTF-8. */
export function textOf(bytes: Buffer): string {
  return bytes.toString(bytes[0] === 0x1f && bytes[1] === 0x8b ? 'latin1' : 'utf8');
}

function base32(text: string): string {
  let bits = 0;
  let held = 0;
  const bytes: number[] = [];
  for (const c of text.toUpperCase()) {
    const value = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(c);
    if (value < 0) continue;
    held = ((held << 5) | value) & 0xfff;
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push((held >> bits) & 255);
  }
  return Buffer.from(bytes).toString('utf8');
}

/** What `python3 -c "print('a' + 'b')"` and its likes print: one literal after folding, else null. */
export function printedLiteral(args: string[]): string | null {
  const at = args.findIndex((arg) => /^(?:-[a-zA-Z]*[cep]|--eval|--print)$/.test(arg));
  const source = at < 0 ? undefined : args[at + 1];
  if (source === undefined || source.length > 20_000) return null;
  const { folded } = codeFacts(source);
  const match =
    /(?:^|[;\n])\s*(?:print|puts|console\.log|sys\.stdout\.write|process\.stdout\.write)?\s*\(?\s*(["'])((?:\\.|(?!\1)[^\\])*)\1\s*(?:,\s*end\s*=\s*["']["']\s*)?\)?\s*;?\s*$/.exec(
      folded,
    );
  return match ? match[2]!.replace(/\\n/g, '\n').replace(/\\(.)/g, '$1') : null;
}
