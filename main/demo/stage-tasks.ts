/** Builds the demo's tasks: one repair from the recorded session, data questions from the seed; trials on each. */
import { join } from 'node:path';
import { TackroomError } from '../../contract/errors.js';
import { buildRepairTask } from '../envs/build-repair.js';
import { findWork } from '../envs/find.js';
import { cleanTrace } from '../envs/session-source.js';
import { recordFound, recordTask } from '../envs/task-records.js';
import { checkTask, type MatrixResult } from '../envs/trial-matrix.js';
import { Recorder } from '../record/recorder.js';
import type { DemoContext } from './context.js';
import { buildDataTasks } from './data-tasks.js';
import type { SessionsResult } from './stage-sessions.js';

export interface TasksResult extends Record<string, unknown> {
  built: number;
  kept: number;
  dropped: Record<string, number>;
}

export async function tasksStage(context: DemoContext): Promise<TasksResult> {
  const { app, plan, seed, driver, signal, progress } = context;
  const { store, paths } = app.services;
  const repairs = await repairTasks(context);
  const tasks = await buildDataTasks({
    store,
    driver,
    tasksDir: paths.tasks,
    seed,
    plans: [
      { split: 'train', count: plan.trainTasks },
      { split: 'validation', count: plan.validationTasks },
      { split: 'test', count: plan.testTasks },
    ],
    signal,
    onProgress: (done, total) => progress.status(`trials (solution twice, nothing) of task ${done} of ${total}`),
  });
  const dropped: Record<string, number> = { ...repairs.dropped };
  for (const task of tasks) if (task.reason) dropped[task.reason] = (dropped[task.reason] ?? 0) + 1;
  const kept = repairs.kept + tasks.filter((t) => t.status === 'kept').length;
  context.say(
    `  ${repairs.built + tasks.length} tasks built, ${kept} kept${Object.entries(dropped)
      .map(([reason, n]) => `, ${n} dropped (${reason})`)
      .join('')}`,
  );
  return { built: repairs.built + tasks.length, kept, dropped };
}

async function repairTasks(context: DemoContext): Promise<TasksResult> {
  const { app, driver, signal, state } = context;
  const { store, paths } = app.services;
  const { repairSessionId } = state.done.sessions as SessionsResult;
  const transcript = new Recorder(store).sessionTranscript(repairSessionId);
  if (!transcript)
    throw new TackroomError(
      'NOT_FOUND',
      'The recorded repair session is not in the store.',
      'Start over with `tackroom demo --fresh`.',
    );
  // Tasks are built from the cleaned copy: what was planted must not travel into a task folder.
  const { works, drops } = findWork([cleanTrace(transcript, { cwd: '/work' })]);
  const repairs = works.filter((work) => work.candidate.kind === 'repair');
  const candidates = recordFound(store, repairSessionId, repairs, drops);
  const result: TasksResult = { built: 0, kept: 0, dropped: {} };
  for (const [i, work] of repairs.entries()) {
    const dir = join(paths.tasks, `repair-${i}`);
    const build = await buildRepairTask(work, dir, { driver, signal });
    if (!build.built) {
      result.dropped[build.reason] = (result.dropped[build.reason] ?? 0) + 1;
      continue;
    }
    result.built++;
    const matrix = await checkTask(dir, { driver, size: 'full', signal });
    const candidateId = candidates[i]!.id;
    const task = recordTask(
      store,
      {
        kind: 'repair',
        split: 'none',
        source: candidateId,
        candidateId,
        dir,
        contentHash: build.contentHash,
        question: work.candidate.check,
      },
      matrix,
    );
    if (task.status === 'kept') result.kept++;
    else result.dropped[task.reason!] = (result.dropped[task.reason!] ?? 0) + 1;
    context.say(`  repair task from the recorded session: \`${work.candidate.check}\` failed, then passed`);
    context.say(`    ${trialsText(matrix)}`);
  }
  if (repairs.length === 0) context.say('  no repair task was found in the recorded session');
  return result;
}

/** Expected outcomes in short, unexpected ones by name. */
function trialsText({ trials }: MatrixResult): string {
  const wrong = trials.filter((t) => !t.ok).map((t) => `${t.name} ${t.reward ?? 'no score'} instead of ${t.expected}`);
  const right = (expected: number): number => trials.filter((t) => t.ok && t.expected === expected).length;
  return [
    `trials: the solution earns 1 (${right(1)} times); doing nothing and ${right(0) - 1} ways to cheat earn 0`,
    ...wrong,
  ].join('; ');
}
