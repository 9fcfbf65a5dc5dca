/** An invented training run with its tasks, rollouts, evaluations and adapters. Test data. */
import type { Evaluation, Run, Step } from '../../contract/records.js';
import type { Store } from '../../main/store/store.js';

const VERSION = 1 as const;
const STEP_MS = 11_000;
export const RUN_ID = 'run_seed';
const hashOf = (step: number): string => step.toString(16).padStart(2, '0').repeat(32).replace(/^../, 'a7');

/** Deterministic noise in [0, 1): mulberry32, whose neighbouring seeds do not resemble each other. */
function noise(seed: number): () => number {
  let state = Math.imul(seed, 0x9e3779b1);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

const learned = (step: number): number => 0.31 + 0.5 * (1 - Math.exp(-step / 14));

export function seedStep(step: number, at: number, random: () => number = noise(step + 7)): Step {
  const reward = Math.min(1.05, Math.max(0, learned(step) + (random() - 0.5) * 0.22));
  return {
    id: `${RUN_ID}/step-${step}`,
    version: VERSION,
    createdAt: at,
    runId: RUN_ID,
    step,
    metrics: {
      reward,
      'tools/calls_per_solved': 2.1 + 2.4 * Math.exp(-step / 10) + random() * 0.5,
      'guard/blocked_calls': Math.max(0, Math.round(6 * Math.exp(-step / 8) + random() * 2 - 0.8)),
      loss: -0.02 + random() * 0.01,
      grad_norm: 0.3 + random() * 0.2,
      entropy: 0.6 * Math.exp(-step / 30),
      'perf/step_s': 11,
    },
  };
}

export function seedEvaluation(step: number, split: 'validation' | 'test', at: number): Evaluation {
  const pass1 = Math.round((step === 0 ? 0.364 : learned(step) + 0.02) * 192) / 192;
  const half = 1.96 * Math.sqrt((pass1 * (1 - pass1)) / 120);
  return {
    id: `${RUN_ID}/${split}-${step}`,
    version: VERSION,
    createdAt: at,
    runId: RUN_ID,
    checkpointId: step === 0 ? null : `${RUN_ID}/checkpoint-${step}`,
    adapterHash: step === 0 ? null : hashOf(step),
    step,
    split,
    temperature: 1,
    tasks: split === 'test' ? 96 : 48,
    rollouts: 192,
    pass1,
    ci95: [pass1 - half, pass1 + half],
    callsPerSolved: 2.1 + 2.4 * Math.exp(-step / 10),
    tokens: 61_000 + step * 120,
    seconds: 21.4,
  };
}

/** `steps` of `of` done, the last one at `now`; a checkpoint and its evaluation every five steps. */
export function seedRun(store: Store, steps: number, of: number, now: number): Run {
  const started = now - steps * STEP_MS;
  return store.transaction(() => {
    for (let i = 0; i < 430; i++) seedTask(store, i, started);
    store.evaluation.put(seedEvaluation(0, 'validation', started));
    store.evaluation.put(seedEvaluation(0, 'test', started));
    for (let step = 1; step <= steps; step++) {
      const at = started + step * STEP_MS;
      store.step.put(seedStep(step, at));
      seedRollouts(store, step, at);
      if (step % 5 === 0) seedCheckpoint(store, step, at);
    }
    return store.run.put({
      id: RUN_ID,
      version: VERSION,
      createdAt: started,
      name: 'data-questions 1',
      status: 'running',
      step: steps,
      steps: of,
      config: {
        model: 'tackroom-demo',
        loss: 'dapo',
        rank: 8,
        alpha: 16,
        learningRate: 0.0008,
        tasksPerStep: 8,
        group: 8,
      },
      error: null,
      updatedAt: now,
      waitingFor: '5 rollouts, oldest 4 s',
      etaMs: (of - steps) * STEP_MS,
      bestCheckpointId: `${RUN_ID}/checkpoint-${steps - (steps % 5)}`,
    });
  });
}

function seedTask(store: Store, i: number, at: number): void {
  const split = i < 300 ? 'train' : i < 348 ? 'validation' : 'test';
  const dropped = i % 86 === 85;
  store.task.put({
    id: `task_${i}`,
    version: VERSION,
    createdAt: at,
    kind: 'data',
    split,
    source: `seed ${i}`,
    candidateId: null,
    dir: `/tasks/${i}`,
    contentHash: `sha256:${i}`,
    question: 'How much was spent in March?',
    status: dropped ? 'dropped' : 'kept',
    reason: dropped ? 'matrix:oracle' : null,
  });
}

function seedRollouts(store: Store, step: number, at: number): void {
  const random = noise(step * 31);
  for (let i = 0; i < 16; i++) {
    const solved = random() < learned(step);
    const unscored = random() < 0.01;
    const calls = 2 + Math.floor(random() * 5);
    store.rollout.put({
      id: `${RUN_ID}/${step}/${i}`,
      version: VERSION,
      createdAt: at + i,
      runId: RUN_ID,
      step,
      split: 'train',
      phase: 'train',
      taskId: `data-${(step * 8 + (i >> 3)) % 300}`,
      group: `${step}/${i >> 3}`,
      adapterHash: step === 1 ? null : hashOf(step - 1),
      sessionId: null,
      reward: unscored ? null : solved ? 1 + 0.1 * (1 - calls / 15) : 0,
      verifier: unscored ? null : solved ? 1 : 0,
      calls,
      blocked: random() < 0.05 ? 1 : 0,
      promptTokens: 900 + Math.floor(random() * 400),
      completionTokens: 60 + Math.floor(random() * 120),
      seconds: 1.2 + random() * 2,
      finish: unscored ? 'error' : 'stop',
      error: unscored ? 'verifier deadline' : null,
    });
  }
}

function seedCheckpoint(store: Store, step: number, at: number): void {
  const id = `${RUN_ID}/checkpoint-${step}`;
  const evaluation = store.evaluation.put(seedEvaluation(step, 'validation', at));
  const adapterHash = hashOf(step);
  store.checkpoint.put({ id, version: VERSION, createdAt: at, runId: RUN_ID, step, dir: `/runs/${step}`, adapterHash });
  if (step % 10 !== 0) return;
  store.adapter.put({
    id: `adapter_${step}`,
    version: VERSION,
    createdAt: at,
    hash: adapterHash,
    name: `data-questions-${step}`,
    baseModel: 'tackroom-demo',
    runId: RUN_ID,
    checkpointId: id,
    dir: `/adapters/${step}`,
    rank: 8,
    alpha: 16,
    pass1: evaluation.pass1,
    bytes: 412_000,
  });
}
