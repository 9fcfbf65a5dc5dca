/** Plays a session's tool calls over a file history and notes every command and edit, without running anything. */
import { posix } from 'node:path';
import { type Check, findCheck, installsPackages } from './check-command.js';
import { type CheckVerdict, callExitCode, checkVerdict } from './check-verdict.js';
import { ABSENT, FileHistory } from './file-history.js';
import { applyEdits, exactEdits, isFullRead } from './file-tools.js';
import { type CallEvent, pathArgument, type SessionTrace, textArgument } from './session-events.js';
import { type FileEffect, mayWriteFiles, shellEffects } from './shell-effects.js';
import { splitShell } from './shell-split.js';

export interface CommandRun {
  /** Index of the event: the moment of the file history at which it had run. */
  at: number;
  /** Number of the user request it served, from 1. */
  request: number;
  line: string;
  check: Check | null;
  verdict: CheckVerdict;
  output: string;
  installs: boolean;
}

export interface Replay {
  history: FileHistory;
  commands: CommandRun[];
  /** Moment of each user request, in order. */
  requests: number[];
  /** The session ends before the result of its last call. */
  truncated: boolean;
  /** One past the last moment. */
  end: number;
}

const SHELL_TOOLS = new Set(['bash', 'shell', 'exec', 'terminal', 'exec_command', 'run_shell_command']);
const WRITE_TOOLS = new Set(['write', 'write_file', 'create_file']);
const EDIT_TOOLS = new Set(['edit', 'multiedit', 'str_replace', 'patch']);
const READ_TOOLS = new Set(['read', 'read_file']);

export function replaySession(trace: SessionTrace): Replay {
  const history = new FileHistory(trace.cwd);
  const replay: Replay = { history, commands: [], requests: [], truncated: false, end: trace.events.length };
  let shown = '';
  trace.events.forEach((event, at) => {
    if (event.kind === 'user') replay.requests.push(at);
    if (event.kind !== 'call') return;
    if (event.output === null) replay.truncated = true;
    const name = event.name.toLowerCase();
    if (SHELL_TOOLS.has(name)) playCommand(event, at, replay);
    else if (!event.isError && event.output !== null) playFileTool(name, event, at, history, shown);
    shown += `\n${event.output ?? ''}`;
  });
  return replay;
}

function playFileTool(name: string, call: CallEvent, at: number, history: FileHistory, shown: string): void {
  const path = history.relative(pathArgument(call.arguments) ?? '');
  if (path === null || call.output === null) return;
  if (READ_TOOLS.has(name)) {
    if (isFullRead(call)) history.saw(path, at, call.output);
  } else if (WRITE_TOOLS.has(name)) {
    // A file that earlier output named was there before: what this write replaced is unknown.
    if (!history.has(path) && shown.includes(path)) history.existedUnseen(path);
    history.set(path, at, textArgument(call.arguments, 'content', 'contents', 'text') ?? '');
  } else if (EDIT_TOOLS.has(name)) {
    const before = history.at(path, at);
    if (before === ABSENT) history.existedUnseen(path);
    const after = typeof before === 'string' ? applyEdits(before, exactEdits(call.arguments)) : null;
    history.set(path, at, after ?? { unknown: 'unknown_files' });
  }
}

function playCommand(call: CallEvent, at: number, replay: Replay): void {
  const { history } = replay;
  const line = textArgument(call.arguments, 'command', 'cmd', 'script') ?? '';
  const cwd = posix.resolve(history.cwd, textArgument(call.arguments, 'workdir', 'cwd') ?? '.');
  const check = findCheck(line, cwd);
  const code = callExitCode(call);
  // A failing line may have stopped before its writes, unless the check at its end is what failed.
  const sure = code === 0 || (code !== null && check !== null);
  for (const effect of shellEffects(line, cwd)) applyEffect(effect, at, history, sure);
  if (code === 0 && call.output !== null) sightOf(line, cwd, call.output, at, history);
  const verdict: CheckVerdict = check ? checkVerdict(check, call) : { result: 'unknown', code };
  replay.commands.push({
    at,
    request: replay.requests.length,
    line,
    check,
    verdict,
    output: call.output ?? '',
    installs: installsPackages(line),
  });
}

function applyEffect(effect: FileEffect, at: number, history: FileHistory, sure: boolean): void {
  const spoil = (path: string): void => {
    history.existedUnseen(path);
    history.set(path, at, { unknown: 'shell_write' });
  };
  if (effect.kind === 'spoil-all') {
    for (const path of history.pathsAt(at)) spoil(path);
    return;
  }
  if (effect.kind === 'program') {
    spoilNamed(effect.text, at, history, spoil);
    return;
  }
  const path = history.relative(effect.path);
  if (path === null) return;
  const before = history.at(path, at);
  if (effect.kind === 'script') {
    if (typeof before === 'string' && mayWriteFiles(before)) spoilNamed(before, at, history, spoil);
    return;
  }
  if (effect.kind === 'spoil' || !sure) spoil(path);
  else if (effect.kind === 'write') {
    if (!effect.append) history.set(path, at, effect.content);
    else if (typeof before === 'string') history.set(path, at, before + effect.content);
    else spoil(path);
  } else if (effect.kind === 'remove') {
    for (const one of history.pathsAt(at)) if (one === path || one.startsWith(`${path}/`)) history.set(one, at, ABSENT);
  } else {
    const to = history.relative(effect.to);
    if (to !== null) history.set(to, at, typeof before === 'string' ? before : { unknown: 'shell_write' });
    if (effect.kind === 'move' && history.has(path)) history.set(path, at, ABSENT);
  }
}

function spoilNamed(program: string, at: number, history: FileHistory, spoil: (path: string) => void): void {
  const known = history.pathsAt(at);
  const named = known.filter((path) => program.includes(posix.basename(path)));
  for (const path of named.length > 0 ? named : known) spoil(path);
}

/** `cat FILE` as the whole command shows the file in full. */
function sightOf(line: string, cwd: string, output: string, at: number, history: FileHistory): void {
  const commands = splitShell(line);
  const words = commands?.length === 1 && commands[0]!.redirects.length === 0 ? commands[0]!.words : [];
  if (words.length !== 2 || words[0]!.text !== 'cat' || !words[1]!.literal || !isFullRead({ arguments: {}, output }))
    return;
  const path = history.relative(words[1]!.text, cwd);
  if (path !== null) history.saw(path, at, output === '(no output)' ? '' : output);
}
