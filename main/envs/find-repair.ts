/** Repair work: a check fails, files are edited, the same check passes. Rules: formats.md 5.2, stage 3. */
import { posix } from 'node:path';
import type { Check } from './check-command.js';
import { ABSENT, stateSha } from './file-history.js';
import { changesRunner, isRunnerConfig, isTestFile } from './file-kinds.js';
import type { CommandRun, Replay } from './replay.js';

export interface FoundCandidate {
  kind: 'repair' | 'build' | 'extend';
  request_index: number;
  check: string;
  /** Relative to the session's folder. */
  cwd: string;
  start_sha: string;
  oracle_sha: string;
  /** Files that differ between start and oracle. */
  files: string[];
}

/** A candidate with what the build stage needs besides. */
export interface Work {
  candidate: FoundCandidate;
  env: Record<string, string>;
  /** Exit code of the failing run; null when only its output told. */
  failCode: number | null;
  /** What the failing run printed. */
  failOutput: string;
  start: Record<string, string>;
  oracle: Record<string, string>;
}

export interface Drop {
  stage: 'intake' | 'screen' | 'replay' | 'repair' | 'build' | 'extend' | 'find';
  /** `stage:reason`. */
  reason: string;
}

export interface Found {
  works: Work[];
  drops: Drop[];
}

export function findRepairs(replay: Replay): Found {
  const found: Found = { works: [], drops: [] };
  const open = new Map<string, CommandRun>();
  for (const run of replay.commands) {
    const { check, verdict } = run;
    if (check?.kind !== 'check') continue;
    if (verdict.result === 'unknown') {
      found.drops.push(drop('repair', check.masked ? 'masked_exit' : 'unknown_exit'));
      continue;
    }
    const key = `${check.cwd}\0${check.command}`;
    const failed = open.get(key);
    if (verdict.result === 'fail') open.set(key, run);
    else if (failed) {
      open.delete(key);
      const reason = refusal(failed, run, replay);
      if (reason) found.drops.push(reason);
      else found.works.push(repairWork(failed, run, check, replay));
    }
  }
  for (const failed of open.values()) found.drops.push(stillOpen(failed, replay));
  return found;
}

/** Why the way from a failing to a passing run is no task, or null. */
function refusal(failed: CommandRun, passed: CommandRun, replay: Replay): Drop | null {
  const { history } = replay;
  const between = replay.commands.filter(({ at }) => at > failed.at && at < passed.at);
  if (between.some(({ installs }) => installs)) return drop('repair', 'install_between');
  const touched = history.touchedBetween(failed.at, passed.at);
  if (touched.length === 0) return drop('repair', 'no_edit_between');
  for (const path of touched) {
    const before = history.at(path, failed.at);
    const after = history.at(path, passed.at);
    if (before === after || typeof after === 'object') continue;
    if (isTestFile(path)) return drop('repair', 'test_edited');
    const texts = typeof before === 'string' && typeof after === 'string';
    if (isRunnerConfig(path) && (!texts || changesRunner(path, before, after))) return drop('repair', 'config_edited');
  }
  return (
    unknownFile(failed, passed, replay) ??
    (history.changedBetween(failed.at, passed.at).length === 0 ? drop('repair', 'no_edit_between') : null)
  );
}

/** A needed file whose content is not known at the start or at the end. */
function unknownFile(failed: CommandRun, passed: CommandRun, replay: Replay): Drop | null {
  const { history } = replay;
  const changed = new Set(history.changedBetween(failed.at, passed.at));
  for (const moment of [failed.at, passed.at])
    for (const path of history.pathsAt(moment)) {
      const state = history.at(path, moment);
      if (typeof state === 'string' || state === ABSENT) continue;
      if (changed.has(path) || namedIn(path, failed.output) || moment === passed.at)
        return drop('replay', state.unknown);
    }
  if (missingFile(failed, replay)) return drop('replay', 'unknown_files');
  return null;
}

const namedIn = (path: string, output: string): boolean => output.includes(path);

const TRACE_PATH = /(?:File "|^|\s)((?:[\w.-]+\/)*[\w.-]+\.(?:py|js|ts|mjs|cjs|go|rs))(?:"|:\d+)/gm;

/** A project file that the failing run names and that was never seen, or a module the known sources import. */
function missingFile(failed: CommandRun, { history }: Replay): boolean {
  const base = failed.check?.cwd ?? history.cwd;
  const known = new Set(history.pathsAt(failed.at));
  for (const match of failed.output.matchAll(TRACE_PATH)) {
    const path = history.relative(match[1]!, base);
    if (path === null || known.has(path)) continue;
    if (!match[1]!.startsWith('/') && !known.has(posix.dirname(path)) && !hasFolder(known, posix.dirname(path)))
      continue;
    return true;
  }
  return ![...known].some(isTestFile) && /pytest|unittest/.test(failed.check?.command ?? '');
}

const hasFolder = (paths: Set<string>, folder: string): boolean =>
  folder === '.' || [...paths].some((path) => path.startsWith(`${folder}/`));

function repairWork(failed: CommandRun, passed: CommandRun, check: Check, { history }: Replay): Work {
  const start = history.stateAt(failed.at);
  const oracle = history.stateAt(passed.at);
  return {
    candidate: {
      kind: 'repair',
      request_index: passed.request,
      check: check.command,
      cwd: posix.relative(history.cwd, check.cwd) || '.',
      start_sha: stateSha(start),
      oracle_sha: stateSha(oracle),
      files: history.changedBetween(failed.at, passed.at),
    },
    env: check.env,
    failCode: failed.verdict.code,
    failOutput: failed.output,
    start,
    oracle,
  };
}

/** A failure that the same check never took back. */
function stillOpen(failed: CommandRun, replay: Replay): Drop {
  const later = replay.commands.filter(({ at, check }) => at > failed.at && check?.kind === 'check');
  if (later.some(({ check, verdict }) => verdict.result === 'pass' && check!.command !== failed.check!.command))
    return drop('repair', 'different_command');
  if (replay.truncated) return drop('replay', 'truncated');
  return drop('repair', 'never_passed');
}

export function drop(stage: Drop['stage'], reason: string): Drop {
  return { stage, reason: `${stage}:${reason}` };
}
