/** Build and extend work in Python: a request that makes a program, and a later one that changes it. */
import { posix } from 'node:path';
import { stateSha } from './file-history.js';
import { isPythonSource } from './file-kinds.js';
import { drop, type Found, type Work } from './find-repair.js';
import type { CommandRun, Replay } from './replay.js';

const MIN_FILES = 2;

export function findBuildAndExtend(replay: Replay): Found {
  const found: Found = { works: [], drops: [] };
  replay.requests.forEach((from, index) => {
    const to = replay.requests[index + 1] ?? replay.end;
    const last = replay.commands.filter(({ at, check }) => at > from && at < to && check?.python).at(-1);
    const hadSource = replay.history.pathsAt(from).some(isPythonSource);
    if (!hadSource && index === 0) buildIn(replay, from, to, last, found);
    else if (hadSource && index > 0) extendIn(replay, from, to, last, found);
  });
  return found;
}

function buildIn(replay: Replay, from: number, to: number, last: CommandRun | undefined, found: Found): void {
  const made = replay.history.changedBetween(from, to - 1).filter(isPythonSource);
  if (made.length === 0) return;
  if (made.length < MIN_FILES) found.drops.push(drop('build', 'too_few_files'));
  else if (!last) found.drops.push(drop('build', 'no_check'));
  else if (last.verdict.result !== 'pass') found.drops.push(drop('build', 'check_failed'));
  else add('build', replay, from, last.at, last, found);
}

function extendIn(replay: Replay, from: number, to: number, last: CommandRun | undefined, found: Found): void {
  const changed = replay.history.changedBetween(from, to - 1).filter(isPythonSource);
  if (changed.length === 0) {
    if (replay.history.changedBetween(from, to - 1).length > 0) found.drops.push(drop('extend', 'no_source_change'));
  } else if (!last) found.drops.push(drop('extend', 'no_check'));
  else if (last.verdict.result !== 'pass') found.drops.push(drop('extend', 'check_failed'));
  else add('extend', replay, from, to - 1, last, found);
}

function add(kind: 'build' | 'extend', replay: Replay, from: number, to: number, run: CommandRun, found: Found): void {
  const { history } = replay;
  for (const moment of [from, to])
    for (const path of history.pathsAt(moment)) {
      const state = history.at(path, moment);
      if (typeof state === 'object') {
        found.drops.push(drop('replay', state.unknown));
        return;
      }
    }
  const start = history.stateAt(from);
  const oracle = history.stateAt(to);
  const check = run.check!;
  const work: Work = {
    candidate: {
      kind,
      request_index: run.request,
      check: check.command,
      cwd: posix.relative(history.cwd, check.cwd) || '.',
      start_sha: stateSha(start),
      oracle_sha: stateSha(oracle),
      files: history.changedBetween(from, to),
    },
    env: check.env,
    failCode: null,
    failOutput: '',
    start,
    oracle,
  };
  found.works.push(work);
}
