/** Runs the stages in order, each once; what is done stays done when the demo is started again. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../native/addon.js';
import type { DemoContext } from './context.js';
import { type DemoReport, figures, paired } from './report.js';
import { sanitizeStage } from './stage-sanitize.js';
import { sessionsStage } from './stage-sessions.js';
import { type TasksResult, tasksStage } from './stage-tasks.js';
import { runTests, swapStage } from './stage-test.js';
import { type TrainResult, trainStage } from './stage-train.js';
import { STAGES, type StageName, saveState } from './state.js';

const TITLES: Record<StageName, string> = {
  sessions: 'Record: the real pi works through the proxy',
  sanitize: 'Sanitize: what was planted goes; one session as ATIF',
  tasks: 'Tasks: from the recorded session and from a seed, trials on each',
  train: 'Train: GRPO inside the unmodified pi',
  swap: 'Swap: the best adapter behind pi',
  test: 'Test: base against adapter on unseen tasks',
};

async function timed(
  context: DemoContext,
  name: StageName,
  work: () => Promise<Record<string, unknown>>,
): Promise<void> {
  const { state, app } = context;
  const number = STAGES.indexOf(name) + 1;
  if (state.done[name]) {
    context.say(`${number}/${STAGES.length} ${TITLES[name]}: done before`);
    return;
  }
  context.say(`${number}/${STAGES.length} ${TITLES[name]}`);
  const before = state.seconds[name] ?? 0;
  const started = Date.now();
  const keepTime = (): void => {
    state.seconds[name] = before + (Date.now() - started) / 1000;
    saveState(app.services.store, state);
  };
  // Time counts while it passes: a demo that was killed has spent it.
  const clock = setInterval(keepTime, 5000);
  try {
    state.done[name] = await work();
  } finally {
    clearInterval(clock);
    keepTime();
  }
}

export async function runDemo(context: DemoContext): Promise<DemoReport> {
  await timed(context, 'sessions', () => sessionsStage(context));
  await timed(context, 'sanitize', () => sanitizeStage(context));
  await timed(context, 'tasks', () => tasksStage(context));
  await timed(context, 'train', () => trainStage(context));
  await timed(context, 'swap', () => swapStage(context));
  await timed(context, 'test', async () => ({ report: await testReport(context) }));
  const report = (context.state.done.test as { report: DemoReport }).report;
  return { ...report, ...timing(context) };
}

function timing(context: DemoContext): Pick<DemoReport, 'seconds' | 'setup_seconds' | 'stages'> {
  const entries = Object.entries(context.state.seconds);
  const setup = join(packageRoot(), 'build', 'setup.json');
  return {
    seconds: entries.reduce((sum, [, s]) => sum + s, 0),
    setup_seconds: existsSync(setup) ? (JSON.parse(readFileSync(setup, 'utf8')) as { seconds: number }).seconds : null,
    stages: entries.map(([name, seconds]) => ({ name, seconds })),
  };
}

async function testReport(context: DemoContext): Promise<DemoReport> {
  const { app, state, seed, pi } = context;
  const { store } = app.services;
  const { tasks, base, adapter } = await runTests(context);
  const hashes = new Set(tasks.map((t) => t.contentHash));
  const alsoIn = (split: 'train' | 'validation'): number =>
    store.task.list({ where: { split } }).filter((t) => hashes.has(t.contentHash)).length;
  const { built, kept, dropped } = state.done.tasks as TasksResult;
  const train = state.done.train as TrainResult;
  return {
    seed,
    ...timing(context),
    test: { tasks: tasks.length, trained_on: alsoIn('train'), chosen_on: alsoIn('validation') },
    base: figures(base),
    adapter: figures(adapter),
    paired: paired(base.sampled.rollouts, adapter.sampled.rollouts),
    greedy_paired: paired(base.greedy.rollouts, adapter.greedy.rollouts),
    recorded: { sessions: store.session.count(), requests: store.request.count(), tool_calls: store.toolCall.count() },
    tasks: { built, kept, dropped },
    harness: { name: 'pi', version: pi.version },
    checkpoint: { step: train.step, validation_pass1: train.validationPass1 },
  };
}
