/** What a command line does to files: exact where the text says so, else which files it leaves unknown. */
import { posix } from 'node:path';
import { type SimpleCommand, splitShell, type Word } from './shell-split.js';

export type FileEffect =
  | { kind: 'write'; path: string; content: string; append: boolean }
  | { kind: 'remove'; path: string }
  | { kind: 'move' | 'copy'; path: string; to: string }
  /** Written, content unknown. */
  | { kind: 'spoil'; path: string }
  /** Anything may have been written. */
  | { kind: 'spoil-all' }
  /** A program text that writes: to the files it names, or to any when it names none that is known. */
  | { kind: 'program'; text: string }
  /** Runs a program file. */
  | { kind: 'script'; path: string };

const READ_ONLY = new Set(
  'cat ls grep rg egrep fgrep head tail wc echo printf pwd cd true false test [ sort uniq diff cmp stat file which type env export set source . sleep date tree du df jq cut tr nl less more column basename dirname realpath readlink id whoami uname ps kill exit : mkdir chmod tput clear'.split(
    ' ',
  ),
);
const GIT_READ = new Set(
  'status diff log show rev-parse branch blame ls-files grep describe remote config add commit tag init shortlog'.split(
    ' ',
  ),
);
const FIXERS =
  /(?:^|\s)(?:--fix|--write|-w|--in-place|--fix-errors)(?:\s|$)|^(?:black|isort|prettier\s+-w|gofmt\s+-w|cargo\s+fmt|ruff\s+format)\b/;
const WRITE_SIGNS =
  /open\([^)]*['"][wax]b?\+?['"]|write_text|write_bytes|writeFile|appendFile|createWriteStream|shutil\.|os\.(?:remove|rename|unlink|replace)|unlink\(|fs\.rm|renameSync|fileinput|-i\b/;
const INTERPRETERS = new Set(['python', 'python3', 'node', 'perl', 'ruby', 'bash', 'sh', 'awk', 'php', 'deno', 'bun']);

/** Paths are absolute. */
export function shellEffects(line: string, cwd: string): FileEffect[] {
  const commands = splitShell(line);
  if (!commands) return compoundEffects(line);
  const effects: FileEffect[] = [];
  let folder = cwd;
  for (const command of commands) {
    const words = command.words.filter(
      (word, index, all) => !/^\w+=/.test(word.text) || all.slice(0, index).some((w) => !/^\w+=/.test(w.text)),
    );
    if (words[0]?.text === 'cd') {
      if (words[1]?.literal) folder = posix.resolve(folder, words[1].text);
      else if (words[1]) return [...effects, { kind: 'spoil-all' }];
      continue;
    }
    effects.push(...commandEffects(command, words, folder));
  }
  return effects;
}

function compoundEffects(line: string): FileEffect[] {
  const writes =
    /(?<![0-9&<=-])>>?(?!&|\s*\/dev\/null|\()|\btee\b|\bsed\s+-i|\b(?:cp|mv|rm|patch|dd|install|truncate)\b|\bgit\s+(?:checkout|reset|stash|apply|restore|merge|pull|revert)\b|-exec\b|-delete\b|\bxargs\b/;
  return writes.test(line) || WRITE_SIGNS.test(line) ? [{ kind: 'spoil-all' }] : [];
}

function commandEffects(command: SimpleCommand, words: Word[], folder: string): FileEffect[] {
  const name = posix.basename(words[0]?.text ?? '');
  const args = words.slice(1);
  const operands = args.filter((word) => !word.text.startsWith('-'));
  const at = (word: Word): string => posix.resolve(folder, word.text);
  const outputs = command.redirects.filter(({ operator }) => ['>', '>>', '>|', '&>', '&>>'].includes(operator));
  const effects: FileEffect[] = [];
  for (const { operator, target, descriptor } of outputs) {
    if (/^\/dev\//.test(target.text)) continue;
    if (!target.literal) return [{ kind: 'spoil-all' }];
    const content = descriptor === '' || descriptor === '1' ? printed(name, args, command) : null;
    if (content === null || operator.startsWith('&')) effects.push({ kind: 'spoil', path: at(target) });
    else effects.push({ kind: 'write', path: at(target), content, append: operator === '>>' });
  }
  const all: FileEffect[] = [...effects, { kind: 'spoil-all' }];
  if (name === 'tee') {
    const document = command.redirects.find(({ body, target }) => body !== undefined && target.literal)?.body;
    const append = args.some(({ text }) => text === '-a');
    for (const word of operands)
      effects.push(
        document === undefined
          ? { kind: 'spoil', path: at(word) }
          : { kind: 'write', path: at(word), content: document, append },
      );
    return effects;
  }
  if (name === 'rm' || name === 'mv' || name === 'cp' || name === 'touch' || name === 'truncate') {
    if (operands.some((word) => !word.literal)) return all;
    if (name === 'rm') return [...effects, ...operands.map((word) => ({ kind: 'remove' as const, path: at(word) }))];
    if (name === 'touch' || name === 'truncate')
      return [...effects, ...operands.map((word) => ({ kind: 'spoil' as const, path: at(word) }))];
    if (operands.length !== 2) return all;
    return [...effects, { kind: name === 'mv' ? 'move' : 'copy', path: at(operands[0]!), to: at(operands[1]!) }];
  }
  if (name === 'sed') {
    if (!args.some(({ text }) => /^-[a-zA-Z]*i|^--in-place/.test(text))) return effects;
    const files = args.some(({ text }) => text === '-e' || text === '-f') ? operands : operands.slice(1);
    if (files.some((word) => !word.literal)) return all;
    return [...effects, ...files.map((word) => ({ kind: 'spoil' as const, path: at(word) }))];
  }
  if (name === 'git') return GIT_READ.has(operands[0]?.text ?? '') ? effects : all;
  if (name === 'find') return args.some(({ text }) => /^-(?:exec|execdir|delete|ok|fprint)/.test(text)) ? all : effects;
  if (READ_ONLY.has(name)) return effects;
  if (['xargs', 'patch', 'dd', 'install', 'ln', 'rsync', 'unzip', 'tar', 'ed', 'ex', 'vim', 'eval'].includes(name))
    return all;
  const text = words.map((word) => word.text).join(' ');
  if (FIXERS.test(text)) return all;
  if (INTERPRETERS.has(name)) return [...effects, ...interpreterEffects(command, args, text, folder)];
  return effects;
}

function interpreterEffects(command: SimpleCommand, args: Word[], text: string, folder: string): FileEffect[] {
  const inline =
    args.some(({ text: word }) => /^-(?:c|e|pe|ne|i|pi|p)$/.test(word)) ||
    command.redirects.some(({ body }) => body !== undefined);
  const program = [text, ...command.redirects.map(({ body }) => body ?? '')].join('\n');
  if (inline) return WRITE_SIGNS.test(program) ? [{ kind: 'program', text: program }] : [];
  const file = args.find(({ text: word }) => !word.startsWith('-'));
  return file?.literal ? [{ kind: 'script', path: posix.resolve(folder, file.text) }] : [];
}

/** What a command prints when that is certain: a here-document through cat, or a plain echo. */
function printed(name: string, args: Word[], command: SimpleCommand): string | null {
  if (name === 'cat' && args.every(({ text }) => text === '-')) {
    const document = command.redirects.find(({ body }) => body !== undefined);
    return document?.target.literal ? (document.body ?? null) : null;
  }
  if (name === 'echo' && args.every((word) => word.literal && !word.text.startsWith('-')))
    return `${args.map(({ text }) => text).join(' ')}\n`;
  if ((name === '' || name === ':' || name === 'true') && args.length === 0) return '';
  return null;
}

/** Whether the program of a file that a command runs may write files. */
export const mayWriteFiles = (program: string): boolean => WRITE_SIGNS.test(program);
