/** Recognises the commands that judge a project (test runners, type checkers, linters, builds) inside a command line. */
import { posix } from 'node:path';
import { type SimpleCommand, splitShell } from './shell-split.js';

export interface Check {
  /** Canonical command: no `cd`, environment, `time`, `timeout`, redirection or pipe. */
  command: string;
  /** Absolute folder it ran in. */
  cwd: string;
  /** Environment assignments that stood before it. */
  env: Record<string, string>;
  kind: 'check' | 'script';
  python: boolean;
  /** The exit code of the line is not that of the check. */
  masked: boolean;
}

const RUNNERS: RegExp[] = [
  /^(?:python3?(?:\.\d+)?\s+-m\s+)?(?:pytest|unittest)\b/,
  /^tox\b/,
  /^(?:npm|pnpm|yarn|bun)\s+(?:run\s+)?(?:test|check|lint|build|typecheck)\b/,
  /^(?:vitest|jest|mocha)\b/,
  /^node\s+(?:--\S+\s+)*--test\b/,
  /^(?:tsc|tsgo|eslint)\b/,
  /^biome\s+check\b/,
  /^(?:ruff(?:\s+check)?|mypy|pyright)\b/,
  /^python3?\s+-m\s+(?:mypy|ruff|tox|pyright)\b/,
  /^cargo\s+(?:test|check|build|clippy)\b/,
  /^go\s+(?:test|build|vet)\b/,
  /^make\s+(?:test|check)\b/,
  /^ctest\b/,
];
const PYTHON = /^(?:python3?(?:\.\d+)?\s|pytest\b|tox\b|ruff\b|mypy\b|pyright\b)/;
const SCRIPT = /^python3?(?:\.\d+)?\s+(?!-)\S+\.py\b/;
const LAUNCHER = /^(?:npx|bunx|uv\s+run|poetry\s+run|pnpm\s+exec)\s+/;
const SETUP = new Set(['export', 'source', '.', 'set', 'true', ':']);

/** The last check of a line, or null when there is none. */
export function findCheck(line: string, cwd: string): Check | null {
  const commands = splitShell(line);
  if (!commands) return findInCompound(line, cwd);
  const pipefail = commands.some(
    ({ words }) => words[0]?.text === 'set' && words.some((word) => word.text === 'pipefail'),
  );
  let folder = cwd;
  let found: Check | null = null;
  let others = 0;
  commands.forEach((command, index) => {
    const piped = commands[index - 1]?.next === '|';
    const { text, env } = canonical(command);
    if (command.words[0]?.text === 'cd' && command.words[1]?.literal) {
      folder = posix.resolve(folder, command.words[1].text);
      return;
    }
    if (SETUP.has(command.words[0]?.text ?? '') || text === '') return;
    const kind = kindOf(text);
    if (kind && !piped) {
      if (found) others++;
      const masked = (command.next === '|' && !pipefail) || command.next === '||' || command.next === '&';
      found = { command: text, cwd: folder, env, kind, python: PYTHON.test(text.replace(LAUNCHER, '')), masked };
    } else if (!piped) others++;
  });
  const check = found as Check | null;
  return check && { ...check, masked: check.masked || others > 0 };
}

/** A check inside a loop or a substitution: its own verdict can only be read from its output. */
function findInCompound(line: string, cwd: string): Check | null {
  for (const part of line.split(/[;&|\n()]+/)) {
    const text = part.trim().replace(/^(?:do|then|else)\s+/, '');
    const kind = kindOf(text);
    if (kind) return { command: text, cwd, env: {}, kind, python: PYTHON.test(text), masked: true };
  }
  return null;
}

function kindOf(text: string): Check['kind'] | null {
  const bare = text
    .replace(LAUNCHER, '')
    .replace(/^(?:\S*\/)?(?=(?:pytest|python3?|tsc|jest|vitest|mocha|eslint)\b)/, '');
  if (RUNNERS.some((runner) => runner.test(bare))) return 'check';
  return SCRIPT.test(bare) ? 'script' : null;
}

function canonical(command: SimpleCommand): { text: string; env: Record<string, string> } {
  const words = [...command.words];
  const env: Record<string, string> = {};
  for (;;) {
    const first = words[0]?.text ?? '';
    const assignment = /^([A-Za-z_][A-Za-z0-9_]*)=(.*)$/s.exec(first);
    if (assignment) env[assignment[1]!] = assignment[2]!;
    else if (first === 'timeout') {
      words.shift();
      while (words[0]?.text.startsWith('-')) words.shift();
    } else if (first !== 'env' && first !== 'time' && first !== 'command') break;
    words.shift();
  }
  return { text: words.map((word) => word.raw).join(' '), env };
}

const INSTALL =
  /\b(?:pip3?|uv|poetry|conda|npm|pnpm|yarn|bun|apt(?:-get)?|brew|cargo|go|gem)\s+(?:-\S+\s+)*(?:install|add|i|ci|sync|get|update|upgrade)\b|\buv\s+pip\b/;

/** Whether a line installs or updates packages: what it changes is not in the files. */
export const installsPackages = (line: string): boolean => INSTALL.test(line);
