/** What a command surely prints, where that can be told without running it: `echo`, `printf`, decoders of such text. */
import type { ModelFiles } from './model-files.js';
import type { Command } from './shell.js';
import { normalizePath } from './shell-scope.js';
import { cut, decoded, printedLiteral, substitute, textOf, translate } from './text-filters.js';

const MAX_OUTPUT = 100_000;
const STDIN = /^(?:-|\/dev\/stdin|\/(?:dev|proc\/(?:self|thread-self))\/fd\/0)$/;

/** What `command` reads where it names no file: a redirect, else what is piped into it, else what `exec` left open. */
export function inputOf(command: Command, files: ModelFiles, depth = 0): string | null {
  if (depth > 12) return null;
  const file = command.redirects.findLast(({ op, fd }) => op.startsWith('<') && (fd === '' || fd === '0'));
  return (
    command.stdin ??
    (file?.op === '<' || file?.op === '<>' ? fileText(file.target, command, files, depth + 1) : null) ??
    (command.from && staticOutput(command.from, files, depth + 1)) ??
    command.descriptors.get('0')?.() ??
    null
  );
}

/** The text behind a path that `command` names, its own open files included; null: it is not known. */
export function fileText(path: string | undefined, command: Command, files: ModelFiles, depth = 0): string | null {
  if (path === undefined) return null;
  const fd = /^\/(?:dev|proc\/(?:self|thread-self))\/fd\/(\d{1,3})$/.exec(path)?.[1];
  if (STDIN.test(path)) return inputOf(command, files, depth + 1);
  const open = fd === undefined ? undefined : command.descriptors.get(fd)?.();
  return open ?? files.get(files.resolve(normalizePath(path, command.cwd))) ?? null;
}

/** The output of `command` with everything piped into it, or null when it cannot be told. */
export function staticOutput(command: Command, files: ModelFiles, depth = 0): string | null {
  if (depth > 12) return null;
  const [program = '', ...args] = command.argv;
  const plain = args.filter((arg) => !/^-[A-Za-z-]/.test(arg));
  const pipedOnly = (): string | null => inputOf(command, files, depth) ?? fileText(plain.at(-1), command, files);
  const input = (): string | null => {
    let text: string | null = null;
    let wasRead = false;
    for (const path of plain) {
      // Stdin is at its end the second time.
      const again = wasRead && STDIN.test(path);
      wasRead ||= STDIN.test(path);
      const part = again ? null : fileText(path, command, files, depth);
      if (part !== null) text = (text ?? '') + part;
      if (text !== null && text.length > MAX_OUTPUT) break;
    }
    return text ?? inputOf(command, files, depth);
  };
  switch (program.split('/').at(-1)) {
    case 'echo': {
      const words = args[0] !== undefined && /^-[neE]+$/.test(args[0]) ? args.slice(1) : args;
      const text = words.join(' ');
      return (args[0]?.includes('e') && words !== args ? decodeEscapes(text) : text).slice(0, MAX_OUTPUT);
    }
    case 'printf':
      return printf(args[0] === '--' ? args.slice(1) : args).slice(0, MAX_OUTPUT);
    case 'tee':
      return pipedOnly();
    case 'cat':
      return input();
    case 'rev':
      return mapText(input(), (text) =>
        text
          .split('\n')
          .map((line) => [...line].reverse().join(''))
          .join('\n'),
      );
    case 'tac':
      return mapText(input(), (text) => text.trimEnd().split('\n').reverse().join('\n'));
    case 'head':
    case 'tail':
      return input();
    case 'tr':
      return mapText(pipedOnly(), (text) => translate(text, args));
    case 'sed':
      return mapText(inputOf(command, files, depth), (text) => substitute(text, args));
    case 'cut':
      return mapText(pipedOnly(), (text) => cut(text, args));
    case 'gunzip':
    case 'zcat':
    case 'gzip':
    case 'base32':
    case 'openssl':
      return decoded(program.split('/').at(-1)!, args, pipedOnly());
    case 'python':
    case 'python3':
    case 'node':
    case 'perl':
    case 'ruby':
      return printedLiteral(args);
    case 'base64':
      return args.some((arg) => /^(?:-d|-D|--decode|-di|-id)$/.test(arg))
        ? mapText(input(), (text) => textOf(Buffer.from(text, 'base64')))
        : null;
    case 'xxd':
      return args.includes('-r') || args.includes('-rp')
        ? mapText(input(), (text) => textOf(Buffer.from(text.replace(/\s/g, ''), 'hex')))
        : null;
    default:
      return null;
  }
}

function mapText(text: string | null, change: (text: string) => string): string | null {
  return text === null ? null : change(text.slice(0, MAX_OUTPUT));
}

function decodeEscapes(text: string): string {
  return text.replace(/\\(x[0-9a-fA-F]{1,2}|0?[0-7]{1,3}|[nrt\\])/g, (_, code: string) => {
    if (code.startsWith('x')) return String.fromCharCode(Number.parseInt(code.slice(1), 16));
    if (/^[0-7]/.test(code)) return String.fromCharCode(Number.parseInt(code, 8) & 255);
    return { n: '\n', r: '\r', t: '\t' }[code] ?? '\\';
  });
}

/** Only `%s`, `%b` and `%d`-like fields; the format repeats while arguments are left, as POSIX says. */
function printf([format = '', ...values]: string[]): string {
  const pattern = decodeEscapes(format);
  const fields = pattern.match(/%[-0-9.]*[sbdiuxq]/g)?.length ?? 0;
  let out = '';
  let next = 0;
  do {
    out += pattern.replace(/%%|%[-0-9.]*[sbdiuxq]/g, (field) => {
      if (field === '%%') return '%';
      const value = values[next++] ?? '';
      return field.endsWith('b') ? decodeEscapes(value) : value;
    });
  } while (fields > 0 && next < values.length && out.length < MAX_OUTPUT);
  return out;
}
