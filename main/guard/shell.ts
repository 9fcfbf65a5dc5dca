/** Reads a shell script into flat simple commands, substitutions and subshells included. Nothing is executed. */

import { expandBraces } from './brace-expansion.js';
import type { ModelFiles } from './model-files.js';
import { assign, type Descriptors, normalizePath, type Scope } from './shell-scope.js';
import { ShellLexer, type Token } from './shell-words.js';
import { fileText, inputOf, staticOutput } from './static-output.js';

export interface Redirect {
  op: string;
  /** Which of the command's files; '' where none is named. */
  fd: string;
  target: string;
}

export interface Command {
  /** Words after expansion, wrappers (`sudo`, `env`, …) still in front. */
  argv: string[];
  /** `X=1` before the program. */
  assignments: [string, string][];
  redirects: Redirect[];
  /** Of the here-document, here-string or open file that its last redirect of stdin names. */
  stdin: string | null;
  /** Its other open files. */
  descriptors: Descriptors;
  /** The command whose output it reads. */
  from: Command | null;
  cwd: string;
}

/** What one call may cost; shared by everything nested in it. */
export interface Budget {
  commands: number;
  characters: number;
}

export interface ShellContext {
  scope: Scope;
  budget: Budget;
  depth: number;
  /** Files whose text the model wrote itself, by path. */
  files: ModelFiles;
}

const KEYWORDS = new Set([
  'if',
  'then',
  'else',
  'elif',
  'fi',
  'do',
  'done',
  'while',
  'until',
  'esac',
  '{',
  '}',
  '!',
  'time',
  'coproc',
]);
const RUNS_WORDS = /^(?:eval|(?:.*\/)?(?:ba|z|da|k|a)?sh|source|\.)$/;
const MAX_DEPTH = 8;

/** A command that puts what it reads into variables, and a here-document that it may read before its line has ended. */
const READS_EARLY = /<<[^\n]*[;&|]/;
const READS = /\b(?:read|mapfile|readarray|exec)\b/;

/** All simple commands of `script` in reading order; those of substitutions come before the command that uses them. */
export function parseShell(script: string, context: ShellContext): Command[] {
  if (!READS_EARLY.test(script) || !READS.test(script)) return parse(script, context, []);
  const bodies: string[] = [];
  const { variables } = context.scope;
  parse(script, { ...context, scope: { ...context.scope, variables: new Map(variables) } }, [], bodies);
  return parse(script, context, bodies);
}

/** A group or a loop: where its commands begin, and what is piped into it. */
interface Group {
  kind: '(' | '{' | 'do' | 'if' | 'case';
  start: number;
  from: Command | null;
}

/** By the word that ends it. */
const ENDS: ReadonlyMap<string, Group['kind']> = new Map([
  ['}', '{'],
  ['done', 'do'],
  ['fi', 'if'],
  ['esac', 'case'],
]);

/** `bodies`: of its here-documents, where they are known. `found` is given them. */
function parse(script: string, context: ShellContext, bodies: readonly string[], found?: string[]): Command[] {
  const { scope, budget, depth, files } = context;
  const out: Command[] = [];
  budget.characters -= script.length;
  if (depth > MAX_DEPTH || budget.characters < 0) return out;
  let substitutions = 0;
  const lexer = new ShellLexer(
    script,
    scope,
    (text, as) => {
      const inner: Scope = { ...scope };
      const nested = parseShell(text, { ...context, depth: depth + 1, scope: inner });
      scope.room = inner.room;
      out.push(...nested);
      const last = nested.at(-1);
      const output = last && staticOutput(last, files);
      if (as === 'text') return output?.replace(/\n+$/, '') ?? '';
      const path = `/dev/fd/${63 - (substitutions++ % 50)}`;
      if (as === 'sink') files.readBy(path, nested);
      else if (output) files.set(path, output);
      return path;
    },
    bodies,
  );

  let current = emptyCommand(scope);
  let redirect: Redirect | null = null;
  const heredocs: { heredoc?: string }[] = [];
  let piped: Command | null = null;
  /** Where each open `(`, `{` or loop began in `out`, with what is piped into it; and the commands of the one that closed last. */
  const groups: Group[] = [];
  let closed: Command[] | null = null;
  /** The loop whose body is still to come. */
  let loop: Group | null = null;
  let array: { name: string; size: number } | null = null;
  const finish = (operator: string): void => {
    const real =
      current.argv.length > 0 ||
      current.redirects.length > 0 ||
      current.assignments.length > 0 ||
      current.stdin !== null;
    if (current.argv[0] === 'for') loop = { kind: 'do', start: out.length, from: current.from };
    if (current.argv[0] === 'case') groups.push({ kind: 'case', start: out.length, from: current.from });
    if (real && budget.commands-- > 0) {
      if (closed !== null && current.argv.length === 0) out.push(...readInGroup(current, closed));
      out.push(current);
      followScope(current, scope, files);
    }
    const pipes = operator === '|' || operator === '|&';
    const into = current.from;
    piped = pipes ? (real && closed === null ? current : (groupOutput(closed, files) ?? piped)) : null;
    // Patterns of `case` have one too.
    closed = operator === ')' && groups.at(-1)?.kind !== 'case' ? out.slice(groups.pop()?.start ?? 0) : null;
    if (operator === '(') groups.push({ kind: '(', start: out.length, from: real ? null : into });
    current = emptyCommand(scope);
    current.from = piped ?? groups.at(-1)?.from ?? null;
    redirect = null;
  };

  for (let token = lexer.next(); token && budget.commands > 0; token = lexer.next()) {
    if (array !== null && token.kind === 'word') {
      assign(scope, array.size === 0 ? array.name : `${array.name}[${array.size}]`, token.text);
      array.size++;
    } else if (token.kind === 'operator') {
      const [name, value] = current.assignments.at(-1) ?? [];
      const opensArray = token.text === '(' && current.argv.length === 0 && value === '' && name !== undefined;
      const closesArray = array !== null;
      array = opensArray ? { name, size: 0 } : token.text === ')' ? null : array;
      if (opensArray || closesArray) current.assignments = [];
      else finish(token.text);
    } else if (token.kind === 'redirect') {
      redirect = { op: token.op, fd: token.fd, target: '' };
      if (token.heredoc !== undefined) {
        const holder = token;
        heredocs.push(holder);
        // The body follows the line: read when the lexer has passed it.
        open(current, redirect, () => holder.heredoc ?? null);
        redirect = null;
      }
    } else if (redirect) {
      const plain = token.quoted || redirect.op === '<<<';
      for (const target of plain ? [token.text] : expandBraces(token.text))
        follow(current, opened(scope, { ...redirect, target }), files);
      redirect = null;
    } else if (current.argv.length === 0 && !token.quoted && KEYWORDS.has(token.text)) {
      const { text } = token;
      const opened = { start: out.length, from: current.from };
      if (text === 'while' || text === 'until') loop = { kind: 'do', ...opened };
      if (text === 'do') groups.push(loop ?? { kind: 'do', ...opened });
      if (text === 'do') loop = null;
      if (text === '{' || text === 'if') groups.push({ kind: text, ...opened });
      const kind = ENDS.get(text);
      if (kind !== undefined) {
        while (groups.length > 0 && groups.at(-1)!.kind !== kind) groups.pop();
        closed = out.slice(groups.pop()?.start ?? 0);
      }
    } else {
      const pair = current.argv.length === 0 ? /^([A-Za-z_]\w*)\+?=([\s\S]*)$/.exec(token.text) : null;
      if (pair) current.assignments.push([pair[1]!, pair[2]!]);
      else if (current.argv.length < 2000) current.argv.push(...wordsOf(token));
    }
  }
  finish('\n');
  found?.push(...heredocs.map(({ heredoc }) => heredoc ?? ''));
  return out;
}

/** `read` is what the named file of the command is from now on: the last redirect counts. */
function open(command: Command, { fd }: Pick<Redirect, 'fd'>, read: () => string | null): void {
  if (fd === '' || fd === '0')
    Object.defineProperty(command, 'stdin', { get: read, enumerable: true, configurable: true });
  else command.descriptors = new Map([...command.descriptors, [fd, read]]);
}

function follow(command: Command, redirect: Redirect, files: ModelFiles): void {
  const { op, fd, target } = redirect;
  const isStdin = fd === '' || fd === '0';
  if (op === '<<<') {
    open(command, redirect, () => target);
    return;
  }
  command.redirects.push(redirect);
  if (op === '<&' || (op === '>&' && fd === '0')) {
    const { descriptors } = command;
    // The shell chose the number of `{name}<…`.
    const named = [...descriptors.keys()].findLast((name) => name.startsWith('{'));
    const read = descriptors.get(/^\d{1,3}-?$/.test(target) ? target.replace('-', '') : (named ?? ''));
    open(command, redirect, read ?? (() => null));
  } else if (op === '<' || op === '<>') {
    const before = { ...command, redirects: [] };
    // Of stdin the redirect itself tells the text.
    open(command, redirect, isStdin ? () => null : () => fileText(target, before, files));
  }
}

/** `>&3` writes where `exec 3>…` said. */
function opened(scope: Scope, redirect: Redirect): Redirect {
  const target = redirect.op === '>&' ? scope.outputs.get(redirect.target) : undefined;
  return target === undefined ? redirect : { ...redirect, op: '>', target };
}

/** What a redirect behind a group or a loop gives to its commands; of one that reads words and runs them, its text is run. */
function readInGroup(behind: Command, group: readonly Command[]): Command[] {
  const opens = ({ op, fd }: Redirect): boolean => op.startsWith('<') && (fd === '' || fd === '0');
  for (const command of group) {
    command.descriptors = new Map([...behind.descriptors, ...command.descriptors]);
    if (command.stdin !== null || command.redirects.some(opens)) continue;
    open(command, { fd: '' }, () => behind.stdin);
    command.redirects.push(...behind.redirects.filter(opens));
  }
  const runs = group.some(({ argv }) => RUNS_WORDS.test(argv[0] ?? ''));
  return runs && group.some(({ argv }) => READS.test(argv[0] ?? '')) ? [{ ...behind, argv: ['bash'] }] : [];
}

/** A word as the shell would split it: an unquoted variable becomes several words, braces are spelled out. */
function wordsOf(token: Extract<Token, { kind: 'word' }>): string[] {
  if (token.expanded && !token.quoted && /\s/.test(token.text)) return token.text.trim().split(/\s+/).slice(0, 500);
  return token.quoted && !/[\w/]\{|\}[\w/]/.test(token.text) ? [token.text] : expandBraces(token.text);
}

/** A stand-in for `( … )` or `{ … }` in front of a pipe: it prints what can be told of its commands. */
function groupOutput(commands: Command[] | null, files: ModelFiles): Command | null {
  if (commands === null) return null;
  const printed = commands
    .slice(0, 200)
    .map((command) => staticOutput(command, files))
    .filter((text) => text !== null);
  return { ...BLANK, argv: ['cat'], stdin: printed.join('\n') };
}

const BLANK: Command = {
  argv: [],
  assignments: [],
  redirects: [],
  stdin: null,
  descriptors: new Map(),
  from: null,
  cwd: '',
};

function emptyCommand({ cwd, descriptors }: Scope): Command {
  return { ...BLANK, argv: [], assignments: [], redirects: [], descriptors, cwd };
}

/** `whole`: the text is not cut at its lines. `unit`: the number of the open file that is read, null: stdin. */
function readOptions(words: readonly string[]): { names: string[]; unit: string | null; whole: boolean } {
  const names: string[] = [];
  let unit: string | null = null;
  let whole = false;
  for (let at = 0; at < words.length; at++) {
    const option = /^-[a-zA-Z]*?([adinNptuOsCc])$/.exec(words[at]!)?.[1] ?? '';
    if (!words[at]!.startsWith('-')) names.push(words[at]!);
    else if (option === 'u') unit = words[++at] ?? '';
    else if (option === 'a') names.push(words[++at] ?? 'MAPFILE');
    else if (
      'dinNptOCc'.includes(option) &&
      option !== '' &&
      !(option === 't' && /^[A-Z_a-z]/.test(words[at + 1] ?? ''))
    ) {
      whole ||= option === 'd';
      at++;
    } else if (/^-u\d/.test(words[at]!)) unit = words[at]!.slice(2);
  }
  return { names: names.length > 0 ? names : ['REPLY'], unit, whole };
}

/** Assignments, `export`, `cd` and the first value of a `for` loop change what later words mean. */
function followScope(command: Command, scope: Scope, files: ModelFiles): void {
  const [program, ...rest] = command.argv;
  if (program === undefined) for (const [name, value] of command.assignments) assign(scope, name, value);
  if (program === 'export' || program === 'declare' || program === 'local' || program === 'readonly')
    for (const word of rest) {
      const at = word.indexOf('=');
      if (at > 0) assign(scope, word.slice(0, at), word.slice(at + 1));
    }
  if ((program === 'for' || program === 'select') && rest[1] === 'in' && rest[2] !== undefined) {
    const words = rest.slice(2);
    scope.loopWords = Math.max(scope.loopWords, words.length);
    assign(scope, rest[0]!, words[Math.min(scope.pick, words.length - 1)]!);
  }
  if (program === 'set' && rest.includes('--'))
    for (const [i, word] of rest.slice(rest.indexOf('--') + 1).entries()) {
      assign(scope, String(i + 1), word);
      if (i === 0) {
        assign(scope, '@', rest.slice(1).join(' '));
        assign(scope, '*', rest.slice(1).join(' '));
      }
    }
  if (program === 'printf' && rest[0] === '-v' && rest[1] !== undefined)
    assign(scope, rest[1], staticOutput({ ...command, argv: ['printf', ...rest.slice(2)] }, files) ?? '');
  if (program === 'read' || program === 'mapfile' || program === 'readarray') {
    const { names, unit, whole } = readOptions(rest);
    const text = unit === null ? inputOf(command, files) : command.descriptors.get(unit)?.();
    const words = whole ? [text ?? ''] : (text?.trim().split(names.length > 1 ? /\s+/ : /\n/) ?? []);
    if (program === 'read') {
      for (const [i, name] of names.entries()) if (words[i] !== undefined) assign(scope, name, words[i]!);
    } else
      for (const [i, word] of words.slice(0, 50).entries())
        assign(scope, i === 0 ? names[0]! : `${names[0]}[${i}]`, word);
  }
  if (program === 'exec' && rest.length === 0) {
    const stdin = inputOf(command, files);
    const outputs = command.redirects.filter(({ op, fd }) => op.startsWith('>') && fd !== '');
    scope.outputs = new Map([...scope.outputs, ...outputs.map(({ fd, target }) => [fd, target] as const)]);
    scope.descriptors = new Map([
      ...command.descriptors,
      ...(stdin === null ? [] : [['0', () => stdin] as [string, () => string]]),
    ]);
  }
  if (program === 'mkfifo' || (program === 'mknod' && rest[1] === 'p'))
    for (const word of rest) if (!word.startsWith('-')) files.readBy(normalizePath(word, command.cwd), []);
  if ((program === 'cd' || program === 'pushd') && rest.length > 0) {
    const target = rest.filter((word) => !word.startsWith('-')).at(0);
    if (target !== undefined) scope.cwd = normalizePath(target, scope.cwd);
  }
}
