/**
 * The build stage of a repair task: really runs the recorded check in the start state and in the solved state, and only
 * writes a task when the first fails the way it did in the session and the second passes.
 */
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, posix } from 'node:path';
import { TackroomError } from '../../contract/errors.js';
import type { SandboxDriver } from '../sandbox/sandbox.js';
import { type CleanDocument, type CleanFacts, cleanDocument } from '../sanitize/clean.js';
import type { Registry } from '../sanitize/detect/registry.js';
import { failedAlike, passedSummary } from './check-output.js';
import type { Work } from './find-repair.js';
import { removeTree } from './remove-tree.js';
import { type Evidence, unittestArguments, writeRepairTask } from './repair-task.js';
import { WORK_DIR } from './task-config.js';
import { checkedPath } from './task-folder.js';
import { runTaskCommand, type TaskCommandResult } from './task-sandbox.js';

export type BuildResult =
  | { built: true; name: string; dir: string; contentHash: string; facts: Readonly<CleanFacts> }
  /** `build:…`: why there is no task. */
  | { built: false; reason: string; detail: string };

export interface BuildOptions {
  driver: SandboxDriver;
  signal?: AbortSignal;
  /** The detectors with the user's rules; absent: the detectors alone. */
  registry?: Registry;
}

const TIMEOUT_MS = 60_000;
const MEMORY_BYTES = 1024 ** 3;

/** Checks the cleaned copy of `found` and writes its folder `dir`. UNSUPPORTED for kinds that need written tests (build, extend). */
export async function buildRepairTask(found: Work, dir: string, options: BuildOptions): Promise<BuildResult> {
  const clean = cleanCopy(found, options.registry);
  if (clean === null) return { built: false, reason: 'build:withheld', detail: 'its cleaned copy still looks private' };
  const work = clean.value();
  if (work.candidate.kind !== 'repair')
    throw new TackroomError(
      'UNSUPPORTED',
      `A ${work.candidate.kind} candidate needs tests that somebody writes; only repair tasks are built.`,
    );
  const refused = (reason: string, run: TaskCommandResult): BuildResult => ({
    built: false,
    reason: `build:${reason}`,
    detail: run.output.slice(-600),
  });
  const before = await runCheck(work, work.start, options);
  if (before.code === 0) return refused('start_passes', before);
  if (before.code === 127 || /No module named (?:pytest|tox|mypy|ruff)\b/.test(before.output))
    return refused('tool_missing', before);
  if (!failedAlike({ code: work.failCode, output: work.failOutput }, before))
    return refused('fails_differently', before);
  const after = await runCheck(work, work.oracle, options);
  if (after.code !== 0) return refused('solution_fails', after);
  const evidence = evidenceOf(work, after.output);
  return { built: true, dir, facts: clean.facts, ...writeRepairTask(clean, evidence, dir) };
}

/** Null: a look at the copy still found something. */
function cleanCopy(work: Work, registry: Registry | undefined): CleanDocument<Work> | null {
  try {
    return cleanDocument(work, { name: 'the task', registry });
  } catch (error) {
    if (error instanceof TackroomError && error.code === 'REFUSED') return null;
    throw error;
  }
}

function evidenceOf(work: Work, output: string): Evidence {
  const summary = passedSummary(output);
  const skipped = Number(/skipped=(\d+)/.exec(output)?.[1] ?? 0);
  const unittest = unittestArguments(work.candidate.check) !== null;
  return { tests: summary?.count ?? 0, skipped, summary: unittest ? null : (summary?.pattern ?? null) };
}

async function runCheck(work: Work, state: Record<string, string>, options: BuildOptions): Promise<TaskCommandResult> {
  const scratch = mkdtempSync(join(tmpdir(), 'tackroom-build-'));
  try {
    const { candidate, env } = work;
    mkdirSync(join(scratch, candidate.cwd), { recursive: true });
    for (const [path, content] of Object.entries(state)) {
      const target = join(scratch, checkedPath(path));
      mkdirSync(dirname(target), { recursive: true });
      writeFileSync(target, content);
    }
    return await runTaskCommand(
      options.driver,
      {
        name: `check ${candidate.check}`,
        argv: ['bash', '-c', candidate.check],
        env,
        cwd: posix.join(WORK_DIR, candidate.cwd),
        mounts: [{ source: scratch, target: WORK_DIR, readonly: false }],
        memoryBytes: MEMORY_BYTES,
        timeoutMs: TIMEOUT_MS,
      },
      options.signal,
    );
  } finally {
    removeTree(scratch);
  }
}
