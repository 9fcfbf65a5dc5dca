/** Candidates, tasks and trials as records of the store. Ids follow from the content, so finding twice adds nothing. */
import type { Candidate, Split, Task, Trial } from '../../contract/records.js';
import type { Store } from '../store/store.js';
import { sha256Hex } from './content-hash.js';
import type { Drop, Work } from './find-repair.js';
import { dropReason, type MatrixResult } from './trial-matrix.js';

const ID_LENGTH = 20;
const idOf = (prefix: string, ...parts: (string | number)[]): string =>
  `${prefix}_${sha256Hex(parts.join('\0')).slice(0, ID_LENGTH)}`;

export function candidateRecord(sessionId: string, work: Work, now = Date.now()): Candidate {
  const { kind, request_index, check, cwd, start_sha, oracle_sha, files } = work.candidate;
  return {
    id: idOf('cand', sessionId, kind, check, cwd, start_sha, oracle_sha),
    version: 1,
    createdAt: now,
    sessionId,
    kind,
    requestIndex: request_index,
    check,
    cwd,
    startSha: start_sha,
    oracleSha: oracle_sha,
    files,
    dropped: null,
  };
}

/** A near miss, kept so that the reason can be shown; `index` tells several of one session apart. */
export function droppedRecord(sessionId: string, drop: Drop, index: number, now = Date.now()): Candidate {
  const kind = drop.stage === 'build' || drop.stage === 'extend' ? drop.stage : 'repair';
  return {
    id: idOf('drop', sessionId, drop.reason, index),
    version: 1,
    createdAt: now,
    sessionId,
    kind,
    requestIndex: 0,
    check: '',
    cwd: '',
    startSha: '',
    oracleSha: '',
    files: [],
    dropped: drop.reason,
  };
}

/** Stores what a session gave; returns the candidates that were not dropped. */
export function recordFound(store: Store, sessionId: string, works: Work[], drops: Drop[]): Candidate[] {
  return store.transaction(() => {
    for (const [index, drop] of drops.entries()) store.candidate.put(droppedRecord(sessionId, drop, index));
    return works.map((work) => store.candidate.put(candidateRecord(sessionId, work)));
  });
}

export interface NewTask {
  kind: string;
  split: Split;
  /** Candidate id or generator seed. */
  source: string;
  candidateId: string | null;
  dir: string;
  contentHash: string;
  question: string;
}

/** The record of a checked task: dropped with the first trial that failed as its reason, else kept. */
export function taskRecord(task: NewTask, matrix: MatrixResult, now = Date.now()): { task: Task; trials: Trial[] } {
  const id = idOf('task', task.contentHash);
  const reason = dropReason(matrix);
  return {
    task: { id, version: 1, createdAt: now, ...task, status: reason === null ? 'kept' : 'dropped', reason },
    trials: matrix.trials.map(({ name, reward, expected, ok, seconds }) => ({
      id: idOf('trial', id, name),
      version: 1,
      createdAt: now,
      taskId: id,
      name,
      reward,
      expected,
      ok,
      seconds,
    })),
  };
}

export function recordTask(store: Store, task: NewTask, matrix: MatrixResult): Task {
  const records = taskRecord(task, matrix);
  return store.transaction(() => {
    for (const trial of records.trials) store.trial.put(trial);
    return store.task.put(records.task);
  });
}
