/** Runs as the window shows them: a run with the numbers that belong to it. */
import type { CallArgs, CallOutput } from '../../contract/api.js';
import { TackroomError } from '../../contract/errors.js';
import type { Evaluation, Run } from '../../contract/records.js';
import type { RunDetail, RunSummary } from '../../contract/views.js';
import type { Store } from '../store/store.js';

const MAX_RUNS = 500;
const MAX_STEPS = 20_000;
const MAX_CHECKPOINTS = 2_000;

export function mustFindRun(store: Store, id: string): Run {
  const run = store.run.get(id);
  if (!run)
    throw new TackroomError(
      'NOT_FOUND',
      'This run is not in the store.',
      'It may have been deleted; go back to the list.',
    );
  return run;
}

export function listRuns(store: Store): RunSummary[] {
  return store.run.list({ limit: MAX_RUNS }).map((run) => {
    const evaluations = store.evaluation.list({ where: { runId: run.id } });
    return {
      run,
      basePass1: shownScore(evaluations.filter((e) => e.checkpointId === null)),
      bestPass1: best(evaluations.filter((e) => e.checkpointId !== null)),
      checkpoints: store.checkpoint.count({ where: { runId: run.id } }),
    };
  });
}

/** The test split is the result; validation only chose the checkpoint. */
function shownScore(evaluations: Evaluation[]): number | null {
  return (evaluations.find((e) => e.split === 'test') ?? evaluations[0])?.pass1 ?? null;
}

function best(evaluations: Evaluation[]): number | null {
  const test = evaluations.filter((e) => e.split === 'test');
  const scores = (test.length ? test : evaluations).map((e) => e.pass1);
  return scores.length ? Math.max(...scores) : null;
}

export function runDetail(store: Store, id: string): RunDetail {
  const run = mustFindRun(store, id);
  const where = { runId: id };
  const rollouts = store.rollout.list({ where });
  return {
    run,
    steps: store.step.list({ where, orderBy: 'step', descending: false, limit: MAX_STEPS }),
    evaluations: store.evaluation.list({ where, descending: false, limit: MAX_CHECKPOINTS }),
    checkpoints: store.checkpoint.list({ where, orderBy: 'step', descending: false, limit: MAX_CHECKPOINTS }),
    rollouts: {
      total: rollouts.length,
      unscored: rollouts.filter((rollout) => rollout.reward === null).length,
      blocked: rollouts.reduce((sum, rollout) => sum + rollout.blocked, 0),
    },
  };
}

/** Newest first, of one step when asked. */
export function listRollouts(
  store: Store,
  { id, step, offset, limit }: CallArgs<'runs.rollouts'>,
): CallOutput<'runs.rollouts'> {
  mustFindRun(store, id);
  const where: Record<string, string | number> = step === undefined ? { runId: id } : { runId: id, step };
  return { total: store.rollout.count({ where }), rollouts: store.rollout.list({ where, offset, limit }) };
}
