/** Reads a shell script into flat simple commands, substitutions and subshells included. Nothing is executed. */

import { expandBraces } from './brace-expansion.js';
import type { ModelFiles } from './model-files.js';
import { assign, normalizePath, type Scope } from './shell-scope.js';
import { ShellLexer, type Token } from './shell-words.js';
import { staticOutput } from './static-output.js';

export interface Redirect {
  op: string;
  target: string;
}

export interface Command {
  /** Words after expansion, wrappers (`sudo`, `env`, …) still in front. */
  argv: string[];
  /** `X=1` before the program. */
  assignments: [string, string][];
  redirects: Redirect[];
  /** Heredoc or here-string. */
  stdin: string | null;
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
const MAX_DEPTH = 8;

/** All simple commands of `script` in reading order; those of substitutions come before the command that uses them. */
export function parseShell(script: string, context: ShellContext): Command[] {
  const { scope, budget, depth, files } = context;
  const out: Command[] = [];
  budget.characters -= script.length;
  if (depth > MAX_DEPTH || budget.characters < 0) return out;
  let substitutions = 0;
  const lexer = new ShellLexer(script, scope, (text, as) => {
    const inner: Scope = { ...scope };
    const nested = parseShell(text, { ...context, depth: depth + 1, scope: inner });
    scope.room = inner.room;
    out.push(...nested);
    const last = nested.at(-1);
    const output = last && staticOutput(last, files);
    if (as === 'text') return output?.replace(/\n+$/, '') ?? '';
    const path = `/dev/fd/${63 - (substitutions++ % 50)}`;
    if (output) files.set(path, output);
    return path;
  });

  let current = emptyCommand(scope.cwd);
  let redirect: string | null = null;
  let piped: Command | null = null;
  /** Where each open `(`, `{` or loop began in `out`, and the commands of the one that closed last. */
  const groups: number[] = [];
  let closed: Command[] | null = null;
  let array: { name: string; size: number } | null = null;
  const finish = (operator: string): void => {
    const real =
      current.argv.length > 0 ||
      current.redirects.length > 0 ||
      current.assignments.length > 0 ||
      current.stdin !== null;
    if (real && budget.commands-- > 0) {
      out.push(current);
      followScope(current, scope, files);
    }
    const pipes = operator === '|' || operator === '|&';
    piped = pipes ? (real ? current : (groupOutput(closed, files) ?? piped)) : null;
    closed = operator === ')' ? out.slice(groups.pop() ?? 0) : null;
    if (operator === '(') groups.push(out.length);
    current = emptyCommand(scope.cwd);
    current.from = piped;
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
      redirect = token.op;
      if (token.heredoc !== undefined) {
        const command = current;
        const holder = token;
        // The body follows the line: read when the lexer has passed it.
        setStdin(command, () => holder.heredoc ?? null);
        redirect = null;
      }
    } else if (redirect === '<<<') {
      const { text } = token;
      setStdin(current, () => text);
      redirect = null;
    } else if (redirect) {
      for (const target of token.quoted ? [token.text] : expandBraces(token.text))
        current.redirects.push({ op: redirect, target });
      redirect = null;
    } else if (current.argv.length === 0 && !token.quoted && KEYWORDS.has(token.text)) {
      if (token.text === '{' || token.text === 'do') groups.push(out.length);
      if (token.text === '}' || token.text === 'done') closed = out.slice(groups.pop() ?? 0);
    } else {
      const pair = current.argv.length === 0 ? /^([A-Za-z_]\w*)\+?=([\s\S]*)$/.exec(token.text) : null;
      if (pair) current.assignments.push([pair[1]!, pair[2]!]);
      else if (current.argv.length < 2000) current.argv.push(...wordsOf(token));
    }
  }
  finish('\n');
  return out;
}

/** The last that is named counts. */
function setStdin(command: Command, read: () => string | null): void {
  Object.defineProperty(command, 'stdin', { get: read, enumerable: true, configurable: true });
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
  return { ...emptyCommand(''), argv: ['cat'], stdin: printed.join('\n') };
}

function emptyCommand(cwd: string): Command {
  return { argv: [], assignments: [], redirects: [], stdin: null, from: null, cwd };
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
  if ((program === 'read' || program === 'mapfile' || program === 'readarray') && rest.length > 0) {
    const text = command.stdin ?? (command.from && staticOutput(command.from, files));
    const names = rest.filter((word) => !word.startsWith('-'));
    const words = text?.trim().split(names.length > 1 ? /\s+/ : /\n/) ?? [];
    for (const [i, name] of names.entries()) if (words[i] !== undefined) assign(scope, name, words[i]!);
  }
  if ((program === 'cd' || program === 'pushd') && rest.length > 0) {
    const target = rest.filter((word) => !word.startsWith('-')).at(0);
    if (target !== undefined) scope.cwd = normalizePath(target, scope.cwd);
  }
}
