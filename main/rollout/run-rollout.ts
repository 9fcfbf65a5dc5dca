/** One rollout, from the task's start state to its reward. */

import type { PiWorker } from '../harness/pi.js';
import type { PiRun } from '../harness/pi-run.js';
import type { WorkerSummary } from '../proxy/protocol.js';
import type { SandboxDriver } from '../sandbox/sandbox.js';
import type { RolloutJob, RolloutResult } from './protocol.js';
import { rolloutReward } from './reward.js';
import type { Scorer } from './scorer.js';
import type { WorkerSocket } from './worker-socket.js';

/** Which part failed when a rollout has no score. */
export type UnscoredReason = 'task' | 'gateway' | 'harness' | 'model' | 'deadline' | 'cancelled' | 'verifier';

export interface RolloutParts {
  worker: PiWorker;
  socket: WorkerSocket;
  driver: SandboxDriver;
  scorer: Scorer;
}

export interface RolloutOutcome {
  result: RolloutResult;
  unscored: UnscoredReason | null;
}

/** A failure with the name of the part it happened in. */
class PartFailure extends Error {
  constructor(
    readonly reason: UnscoredReason,
    cause: unknown,
  ) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

async function part<T>(reason: UnscoredReason, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (cause) {
    throw new PartFailure(reason, cause);
  }
}

function failureOf(run: PiRun): PartFailure | null {
  if (run.error === undefined) return null;
  if (run.error === 'deadline' || run.error === 'cancelled')
    return new PartFailure(run.error, `The rollout's time was over (${run.error}).`);
  return new PartFailure(run.settled ? 'model' : 'harness', run.error);
}

function titleOf(instruction: string): string {
  const line = instruction.trim().split('\n', 1)[0] ?? '';
  return line.length > 80 ? `${line.slice(0, 79)}…` : line;
}

/**
 * Runs `job` on a worker that is as new. Never rejects for what the policy, pi, the gateway, the sandbox or the tests
 * do: that is in the outcome. What was sampled is in the trace even when there is no score.
 */
export async function runRollout(job: RolloutJob, parts: RolloutParts, signal: AbortSignal): Promise<RolloutOutcome> {
  const { worker, socket, driver, scorer } = parts;
  const started = performance.now();
  const remainingMs = (): number => Math.max(1, Math.ceil(job.deadlineMs - (performance.now() - started)));
  let summary: WorkerSummary | null = null;
  let verifier: number | null = null;
  let failure: PartFailure | null = null;
  try {
    const { instruction } = await part('task', scorer.materialize(job.taskDir, worker.workDir));
    const session = {
      ...({
        harness: 'pi',
        origin: 'rollout',
        rolloutId: job.id,
        title: titleOf(instruction),
        upstream: null,
      } as const),
      ...{ adapter: job.adapter, sampling: job.sampling, profile: job.profile },
      ...{ maxCalls: job.maxCalls, maxPromptTokens: job.maxPromptTokens },
    };
    await part('gateway', socket.begin(session, signal));
    const run = await part('harness', worker.run(instruction, { deadlineMs: remainingMs(), signal }));
    await part('harness', worker.quiet());
    summary = await part('gateway', socket.end());
    failure = failureOf(run);
    if (!failure) {
      const limit = AbortSignal.any([signal, AbortSignal.timeout(remainingMs())]);
      const score = await part('verifier', scorer.score(job.taskDir, worker.workDir, { driver, signal: limit }));
      verifier = score.reward;
      if (verifier === null)
        throw new PartFailure(signal.aborted ? 'cancelled' : 'verifier', score.error ?? 'The tests gave no score.');
    }
  } catch (error) {
    if (!(error instanceof PartFailure)) throw error;
    failure = error;
  }
  const result: RolloutResult = {
    job,
    verifier,
    reward: rolloutReward(verifier, summary?.toolCalls ?? 0, summary?.blocked ?? 0),
    calls: summary?.toolCalls ?? 0,
    blocked: summary?.blocked ?? 0,
    promptTokens: summary?.promptTokens ?? 0,
    completionTokens: summary?.completionTokens ?? 0,
    seconds: (performance.now() - started) / 1000,
    finish: failure ? failure.reason : (summary?.finish ?? 'error'),
    error: failure ? failure.message : null,
    sessionId: summary?.sessionIds[0] ?? null,
    trace: summary?.trace ?? [],
  };
  return { result, unscored: failure?.reason ?? null };
}
