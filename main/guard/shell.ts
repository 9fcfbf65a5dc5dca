/** Reads a shell script into flat simple commands, substitutions and subshells included. Nothing is executed. */

import { assign, normalizePath, type Scope } from './shell-scope.js';
import { ShellLexer } from './shell-words.js';
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
  files: ReadonlyMap<string, string>;
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
  const lexer = new ShellLexer(script, scope, (text) => {
    const inner: Scope = { ...scope };
    const nested = parseShell(text, { ...context, depth: depth + 1, scope: inner });
    scope.room = inner.room;
    out.push(...nested);
    const last = nested.at(-1);
    return (last && staticOutput(last, files))?.replace(/\n+$/, '') ?? '';
  });

  let current = emptyCommand(scope.cwd);
  let redirect: string | null = null;
  let piped: Command | null = null;
  const finish = (operator: string): void => {
    const real =
      current.argv.length > 0 ||
      current.redirects.length > 0 ||
      current.assignments.length > 0 ||
      current.stdin !== null;
    if (real && budget.commands-- > 0) {
      out.push(current);
      followScope(current, scope);
    }
    piped = operator === '|' || operator === '|&' ? (real ? current : piped) : null;
    current = emptyCommand(scope.cwd);
    current.from = piped;
    redirect = null;
  };

  for (let token = lexer.next(); token && budget.commands > 0; token = lexer.next()) {
    if (token.kind === 'operator') finish(token.text);
    else if (token.kind === 'redirect') {
      redirect = token.op;
      if (token.heredoc !== undefined) {
        const command = current;
        const holder = token;
        // The body follows the line: read when the lexer has passed it.
        Object.defineProperty(command, 'stdin', {
          get: () => holder.heredoc ?? null,
          enumerable: true,
          configurable: true,
        });
        redirect = null;
      }
    } else if (redirect === '<<<') {
      current.stdin = token.text;
      redirect = null;
    } else if (redirect) {
      current.redirects.push({ op: redirect, target: token.text });
      redirect = null;
    } else if (current.argv.length === 0 && !token.quoted && KEYWORDS.has(token.text)) continue;
    else {
      const pair = current.argv.length === 0 ? /^([A-Za-z_]\w*)\+?=([\s\S]*)$/.exec(token.text) : null;
      if (pair) current.assignments.push([pair[1]!, pair[2]!]);
      else if (current.argv.length < 2000) current.argv.push(token.text);
    }
  }
  finish('\n');
  return out;
}

function emptyCommand(cwd: string): Command {
  return { argv: [], assignments: [], redirects: [], stdin: null, from: null, cwd };
}

/** Assignments, `export`, `cd` and the first value of a `for` loop change what later words mean. */
function followScope(command: Command, scope: Scope): void {
  const [program, ...rest] = command.argv;
  if (program === undefined) for (const [name, value] of command.assignments) assign(scope, name, value);
  if (program === 'export' || program === 'declare' || program === 'local' || program === 'readonly')
    for (const word of rest) {
      const at = word.indexOf('=');
      if (at > 0) assign(scope, word.slice(0, at), word.slice(at + 1));
    }
  if (program === 'for' && rest[1] === 'in' && rest[2] !== undefined) assign(scope, rest[0]!, rest[2]);
  if ((program === 'cd' || program === 'pushd') && rest.length > 0) {
    const target = rest.filter((word) => !word.startsWith('-')).at(0);
    if (target !== undefined) scope.cwd = normalizePath(target, scope.cwd);
  }
}
