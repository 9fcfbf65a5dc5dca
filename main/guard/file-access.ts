/** Which files a simple command reads and writes, by what its program does with its words. */
import { programOf, unwrap } from './interpret.js';
import type { ModelFiles } from './model-files.js';
import { patchedPaths } from './patch-text.js';
import type { Command } from './shell.js';
import { normalizePath } from './shell-scope.js';
import { fileText, inputOf, staticOutput } from './static-output.js';

export interface Write {
  path: string;
  /** The new text where it is known. */
  content: string | null;
  /**
   * `whole`: nothing but `content` is in the file then. `replaced`: nothing of what was there. `kept`: its text is as before. Without it
   * a part of the old text may remain.
   */
  effect?: 'whole' | 'replaced' | 'kept';
}
export interface FileAccess {
  reads: string[];
  writes: Write[];
}

const NO_FILES = new Set([
  'echo',
  'printf',
  'cd',
  'export',
  'declare',
  'local',
  'unset',
  'exit',
  'true',
  'false',
  ':',
  'sleep',
  'kill',
  'pkill',
  'killall',
  'pgrep',
  'for',
  'case',
]);
/** The last plain word is the target, the ones before it are read. */
const COPIES = new Set(['cp', 'mv', 'install', 'rsync', 'ln']);
/** Every plain word is changed. */
const CHANGES = new Set([
  'tee',
  'touch',
  'rm',
  'truncate',
  'chmod',
  'chown',
  'unlink',
  'shred',
  'mkdir',
  'rmdir',
  'ed',
  'ex',
  'sponge',
  'setfacl',
  'chattr',
  'mkfifo',
  'mknod',
  'umount',
  'pico',
  'nano',
]);
/** Of these, those that leave the text as it is. */
const KEEPS = new Set(['touch', 'chmod', 'chown', 'setfacl', 'chattr']);
/** The first plain word is a pattern or a program text, not a file. */
const PATTERN_FIRST = new Set(['grep', 'egrep', 'fgrep', 'rg', 'ag', 'sed', 'awk', 'gawk', 'jq', 'perl', 'tr']);
/** Programs that write the file named after a flag. */
const OUTPUT_FLAG = new Map<string, RegExp>(
  Object.entries({
    sort: /^(?:-o|--output)$/,
    openssl: /^-out$/,
    gcc: /^-o$/,
    cc: /^-o$/,
    'g++': /^-o$/,
    clang: /^-o$/,
    go: /^-o$/,
    jq: /^-o$/,
    pandoc: /^(?:-o|--output)$/,
    ffmpeg: /^-y$/,
    script: /^-[aqf]*$/,
  }),
);
const WRITE_REDIRECT = /^(?:>|>>|>\||&>|&>>|<>)$/;

export function fileAccess(command: Command, files: ModelFiles): FileAccess {
  const argv = unwrap(command.argv);
  const program = programOf(argv);
  const at = (path: string): string => files.resolve(normalizePath(path, command.cwd));
  const reads: string[] = [];
  const writes: Write[] = [];
  const add = (path: string | undefined, content: string | null = null, effect?: Write['effect']): void => {
    if (path && !path.startsWith('/dev/null')) writes.push({ path: at(path), content, ...(effect && { effect }) });
  };

  for (const { op, target } of command.redirects) {
    if (WRITE_REDIRECT.test(op))
      add(target, staticOutput({ ...command, argv }, files), op.includes('>>') || op === '<>' ? undefined : 'replaced');
    else if (op === '<') reads.push(at(target));
  }
  const words = argv.slice(1).filter((word) => !word.startsWith('-') && word.length < 4096);
  const output = OUTPUT_FLAG.get(program);
  const inPlace = argv.slice(1).some((word) => /^(?:-[a-zA-Z]*i|--in-place)/.test(word));
  if (program === 'dd') for (const word of argv) add(/^of=(.+)/.exec(word)?.[1]);
  else if (COPIES.has(program)) {
    const target = flagValue(argv, /^(?:-t|--target-directory)$/) ?? words.at(-1);
    reads.push(...words.slice(0, -1).map(at));
    if (program === 'mv') for (const word of words.slice(0, -1)) add(word);
    // A link that is there is replaced, not followed.
    if (program === 'ln' && target) writes.push({ path: normalizePath(target, command.cwd), content: null });
    else add(target, words.length === 2 ? (files.get(at(words[0]!)) ?? null) : null);
    if (target && words.length > 1 && !(program === 'ln' && words.length === 2))
      for (const word of words.slice(0, -1)) add(`${target}/${word.split('/').at(-1)}`, files.get(at(word)) ?? null);
    if (program === 'ln' && target && words[0] && argv.some((word) => /^-[a-zA-Z]*s|^--symbolic/.test(word)))
      files.link(
        normalizePath(target, command.cwd),
        normalizePath(words[0], words[0].startsWith('/') ? '' : command.cwd),
      );
  } else if (CHANGES.has(program))
    for (const word of words)
      add(word, program === 'tee' ? inputOf(command, files) : null, KEEPS.has(program) ? 'kept' : undefined);
  else if (program === 'mount') {
    if (argv.some((word) => /^(?:--bind|--rbind|-o)$/.test(word))) add(words.at(-1));
  } else if (program === 'find') {
    if (argv.includes('-delete')) add(words[0]);
    add(flagValue(argv, /^-fprintf?$/));
  } else if (program === 'docker' || program === 'podman') {
    for (const [i, word] of argv.entries()) {
      const mount = /^(?:-v|--volume)(?:=(.*))?$/.exec(word);
      const [source, , mode = ''] = (mount?.[1] ?? (mount ? (argv[i + 1] ?? '') : '')).split(':');
      if (source && !/\bro\b/.test(mode)) add(source);
    }
  } else if (program === 'sqlite3') {
    for (const word of argv) add(/^\.(?:output|once|backup|save) (\S+)/.exec(word)?.[1]);
  } else if (program === 'git') {
    if (argv[1] === 'apply' || argv[1] === 'am') for (const path of patchOf(command, files, /^-p(\d)$/, 1)) add(path);
  } else if (program === 'vim' || program === 'vi' || program === 'nvim') {
    if (argv.some((word) => /^(?:-c|-es|-s|\+.*)$/.test(word))) for (const word of words) add(word);
  } else if (
    program === 'patch' ||
    ((program === 'sed' || program === 'perl' || program === 'awk' || program === 'gawk') && inPlace)
  ) {
    for (const word of program === 'patch' ? words : words.slice(argv.some((w) => /^-[a-z]*e$/.test(w)) ? 0 : 1))
      add(word);
    if (program === 'patch') for (const path of patchOf(command, files, /^(?:-p|--strip=)(\d)$/, null)) add(path);
  } else if (
    (program === 'curl' && flagValue(argv, /^(?:-o|--output)$/)) ||
    (program === 'wget' && flagValue(argv, /^(?:-O|-qO|--output-document)$/))
  ) {
    add(flagValue(argv, /^(?:-o|--output|-O|-qO|--output-document)$/));
  } else if (output !== undefined && flagValue(argv, output)) add(flagValue(argv, output));
  else if ((program === 'tar' || program === 'unzip') && flagValue(argv, /^(?:-C|-d|--directory)$/))
    add(flagValue(argv, /^(?:-C|-d|--directory)$/));

  if (!NO_FILES.has(program)) {
    reads.push(...words.slice(PATTERN_FIRST.has(program) && words.length > 1 ? 1 : 0).map(at));
    for (const word of argv.slice(1)) {
      const value =
        /^--?[\w-]+=(.+)$/.exec(word)?.[1] ?? (/^-F\w+=@(.+)$/.exec(word)?.[1] || /^\w+=@(.+)$/.exec(word)?.[1]);
      if (value) reads.push(at(value));
    }
    if (argv[0]?.includes('/')) reads.push(at(argv[0]));
  }
  return { reads, writes };
}

/** Files that the diff changes which `command` gets on stdin or as its argument. */
function patchOf(command: Command, files: ModelFiles, flag: RegExp, strip: number | null): string[] {
  const argv = unwrap(command.argv);
  const given = argv.map((word) => flag.exec(word)?.[1]).find((digit) => digit !== undefined);
  const folder = flagValue(argv, /^(?:-d|--directory)$/) ?? '';
  const input = flagValue(argv, /^(?:-i|--input)$/) ?? argv.slice(2).at(-1);
  const text = inputOf(command, files) ?? fileText(input, command, files);
  if (!text) return [];
  return patchedPaths(text, given === undefined ? strip : Number(given)).map((path) =>
    normalizePath(path, folder || undefined),
  );
}

function flagValue(argv: string[], flag: RegExp): string | undefined {
  const index = argv.findIndex((word) => flag.test(word));
  return index < 0 ? undefined : argv[index + 1];
}
