/**
 * A training run: steps of rollouts and updates, a checkpoint every N steps, each evaluated on validation tasks that are
 * not trained on, the best chosen by them. Killed at any point it goes on from its last checkpoint: what came after it
 * is done again with the same seeds.
 */

import { join } from 'node:path';
import { TackroomError, toErrorShape } from '../../contract/errors.js';
import type { Checkpoint, Evaluation, Run, Task } from '../../contract/records.js';
import { STATE_FILE } from '../engine/trainer-session.js';
import type { RolloutPool } from '../rollout/pool.js';
import type { Services } from '../services/services.js';
import type { EventBus } from '../window/event-bus.js';
import { saveCheckpoint, usableCheckpoints } from './checkpoints.js';
import { chooseCheckpoint } from './choose.js';
import { Estimate } from './estimate.js';
import { evaluate, passByTask, type RolloutContext } from './evaluate.js';
import { RunConfig } from './run-config.js';
import { seedFrom } from './seeds.js';
import { trainStep } from './train-step.js';

export interface RunOptions {
  services: Services;
  pool: RolloutPool;
  bus: EventBus;
  runId: string;
  trainTasks: Task[];
  validationTasks: Task[];
  signal?: AbortSignal;
  /** One line a step, for a terminal. */
  onProgress?: (text: string) => void;
}

export interface RunOutcome {
  run: Run;
  best: Checkpoint;
  evaluations: Evaluation[];
}

export function createRun(services: Services, id: string, config: RunConfig): Run {
  const now = Date.now();
  return services.store.run.put({
    id,
    version: 1,
    createdAt: now,
    updatedAt: now,
    name: config.name,
    status: 'planned',
    step: 0,
    steps: config.steps,
    config,
    error: null,
    waitingFor: null,
    etaMs: null,
    bestCheckpointId: null,
  });
}

/** Runs or resumes `runId` to its end. Errors: CANCELLED when stopped; others mark the run failed and are thrown. */
export async function executeRun(options: RunOptions): Promise<RunOutcome> {
  const runner = new Runner(options);
  for (let restarts = 0; ; restarts++) {
    try {
      return await runner.go();
    } catch (error) {
      const shape = toErrorShape(error);
      // The engine is started again by itself; the run goes back to its last checkpoint.
      if (shape.code === 'SERVICE_GONE' && restarts < 5 && !options.signal?.aborted) {
        options.onProgress?.(`a service stopped; going on from the last checkpoint (${restarts + 1})`);
        continue;
      }
      const stopped = options.signal?.aborted || shape.code === 'CANCELLED';
      runner.update({
        status: stopped ? 'stopped' : 'failed',
        error: stopped ? null : shape.message,
        waitingFor: null,
        etaMs: null,
      });
      throw error;
    }
  }
}

class Runner {
  readonly #config: RunConfig;
  readonly #estimate: Estimate;

  constructor(private readonly o: RunOptions) {
    const run = o.services.store.run.get(o.runId);
    if (!run) throw new TackroomError('NOT_FOUND', `There is no run ${o.runId}.`);
    this.#config = RunConfig.parse(run.config);
    this.#estimate = new Estimate();
    const need = this.#config.tasksPerStep;
    if (o.trainTasks.length < need)
      throw new TackroomError(
        'BAD_ARGUMENT',
        `The run needs ${need} training tasks a step; there are ${o.trainTasks.length}.`,
      );
    if (o.validationTasks.length === 0)
      throw new TackroomError('BAD_ARGUMENT', 'The run has no validation tasks to choose a checkpoint by.');
    const trained = new Set(o.trainTasks.map((t) => t.contentHash));
    const shared = o.validationTasks.filter((t) => trained.has(t.contentHash));
    if (shared.length > 0)
      throw new TackroomError(
        'REFUSED',
        `${shared.length} validation tasks are also trained on.`,
        'Keep the two sets apart.',
      );
  }

  update(change: Partial<Run>): Run {
    const run = this.o.services.store.run.update(this.o.runId, (r) => ({ ...r, ...change, updatedAt: Date.now() }))!;
    this.o.bus.publish('run.status', { run });
    return run;
  }

  async go(): Promise<RunOutcome> {
    const { services, runId } = this.o;
    const config = this.#config;
    const last = usableCheckpoints(services.store, runId)[0];
    this.#forgetAfter(last?.step ?? 0);
    const open = await services.engine(
      'train.open',
      {
        rank: config.rank,
        alpha: config.alpha,
        experts: config.experts,
        seed: seedFrom(config.seed, 'adapter'),
        optimizer: {
          optimizer: 'adamw',
          betas: config.betas,
          eps: 1e-8,
          weightDecay: config.weightDecay,
          maxGradNorm: config.maxGradNorm,
        },
        state: last && join(last.dir, STATE_FILE),
      },
      { timeoutMs: 60_000 },
    );
    let hash = open.hash;
    let step = last?.step ?? 0;
    this.update({ status: 'running', step, error: null });
    await this.#evaluateCheckpoint(null);
    for (const checkpoint of usableCheckpoints(services.store, runId).reverse())
      await this.#evaluateCheckpoint(checkpoint);
    while (step < config.steps) {
      this.o.signal?.throwIfAborted();
      step++;
      hash = (await this.#step(step, hash)) ?? hash;
      if (step % config.checkpointEvery === 0 || step === config.steps) {
        const checkpoint = await saveCheckpoint(services, runId, step);
        this.o.bus.publish('record.changed', { kind: 'checkpoint', id: checkpoint.id });
        await this.#evaluateCheckpoint(checkpoint);
      }
    }
    const outcome = this.#choose();
    await services.engine('train.close', {}, { timeoutMs: 10_000 });
    return outcome;
  }

  async #step(step: number, hash: string): Promise<string | null> {
    const { services, runId, trainTasks, bus } = this.o;
    const config = this.#config;
    const started = Date.now();
    const first = ((step - 1) * config.tasksPerStep) % trainTasks.length;
    const tasks = Array.from({ length: config.tasksPerStep }, (_, i) => trainTasks[(first + i) % trainTasks.length]!);
    const context = this.#context(`step-${step}`, step, 'train', hash);
    const result = await trainStep({
      services,
      pool: this.o.pool,
      context,
      tasks,
      signal: this.o.signal,
      onRollout: (rollout, done, total) => {
        bus.publish('run.rollout', { runId, rollout });
        this.#waiting(done < total ? `step ${step}: ${total - done} of ${total} rollouts` : `step ${step}: the update`);
      },
    });
    this.#estimate.add('step', Date.now() - started);
    const record = services.store.step.put({
      id: `${runId}/${step}`,
      version: 1,
      createdAt: Date.now(),
      runId,
      step,
      metrics: result.metrics,
    });
    bus.publish('run.step', { runId, step, at: record.createdAt, metrics: record.metrics });
    const etaMs = this.#eta(step);
    this.update({ step, etaMs });
    const m = result.metrics;
    this.o.onProgress?.(
      `step ${step}/${config.steps}  reward ${(m.reward ?? 0).toFixed(3)}  pass ${(m['train/pass1'] ?? 0).toFixed(2)}  calls ${(m['tools/calls_mean'] ?? 0).toFixed(2)}  ${(m['perf/step_s'] ?? 0).toFixed(1)} s`,
    );
    return result.hash;
  }

  /** null: the base model, step 0. Already recorded evaluations are not repeated. */
  async #evaluateCheckpoint(checkpoint: Checkpoint | null): Promise<Evaluation> {
    const { services, runId, bus } = this.o;
    const phase = checkpoint ? `validation-${checkpoint.step}` : 'validation-base';
    const known = services.store.evaluation.get(`${runId}/${phase}`);
    if (known && known.adapterHash === (checkpoint?.adapterHash ?? null)) return known;
    const started = Date.now();
    if (checkpoint) await services.engine('adapter.load', { dir: checkpoint.dir }, { timeoutMs: 30_000 });
    const context = this.#context(phase, checkpoint?.step ?? 0, 'validation', checkpoint?.adapterHash ?? null);
    const { evaluation } = await evaluate({
      services,
      pool: this.o.pool,
      context,
      tasks: this.o.validationTasks,
      samples: this.#config.validationSamples,
      checkpointId: checkpoint?.id ?? null,
      signal: this.o.signal,
      onRollout: (_, done, total) =>
        this.#waiting(
          `validation of ${checkpoint ? `step ${checkpoint.step}` : 'the base model'}: ${total - done} of ${total} rollouts`,
        ),
    });
    this.#estimate.add('evaluation', Date.now() - started);
    bus.publish('run.evaluation', { runId, evaluation });
    this.o.onProgress?.(
      `${checkpoint ? `checkpoint ${checkpoint.step}` : 'base model'}: validation pass@1 ${evaluation.pass1.toFixed(3)} [${evaluation.ci95.map((x) => x.toFixed(2)).join(', ')}], ${evaluation.callsPerSolved?.toFixed(2) ?? '-'} calls per solved`,
    );
    return evaluation;
  }

  #choose(): RunOutcome {
    const { store } = this.o.services;
    const evaluations = store.evaluation.list({ where: { runId: this.o.runId, split: 'validation' } });
    const scored = evaluations
      .filter((e) => e.checkpointId !== null)
      .map((evaluation) => ({
        evaluation,
        pass: passByTask(
          store.rollout.list({ where: { runId: this.o.runId, phase: `validation-${evaluation.step}` } }),
        ),
      }));
    const best = store.checkpoint.get(chooseCheckpoint(scored).checkpointId!)!;
    const run = this.update({ status: 'done', bestCheckpointId: best.id, waitingFor: null, etaMs: null });
    return { run, best, evaluations };
  }

  #context(phase: string, step: number, split: 'train' | 'validation', adapter: string | null): RolloutContext {
    return {
      runId: this.o.runId,
      phase,
      step,
      split,
      config: this.#config,
      adapter,
      temperature: this.#config.temperature,
    };
  }

  #forgetAfter(step: number): void {
    const { store } = this.o.services;
    store.transaction(() => {
      for (const s of store.step.list({ where: { runId: this.o.runId } })) if (s.step > step) store.step.delete(s.id);
      for (const c of store.checkpoint.list({ where: { runId: this.o.runId } }))
        if (c.step > step) store.checkpoint.delete(c.id);
    });
  }

  #eta(step: number): number | null {
    const config = this.#config;
    const evaluationsLeft =
      Math.ceil(config.steps / config.checkpointEvery) - Math.floor(step / config.checkpointEvery);
    return this.#estimate.total({ step: config.steps - step, evaluation: evaluationsLeft });
  }

  #lastWaiting = 0;
  #waiting(waitingFor: string): void {
    if (Date.now() - this.#lastWaiting < 500) return;
    this.#lastWaiting = Date.now();
    this.update({ waitingFor });
  }
}
