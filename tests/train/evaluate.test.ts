import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import type { Task } from '../../contract/records.js';
import type { RolloutPool } from '../../main/rollout/pool.js';
import type { RolloutJob, RolloutResult } from '../../main/rollout/protocol.js';
import type { Services } from '../../main/services/services.js';
import { openStore } from '../../main/store/store.js';
import { evaluate } from '../../main/train/evaluate.js';
import { RunConfig } from '../../main/train/run-config.js';

const home = mkdtempSync(join(tmpdir(), 'tackroom-evaluate-'));
const store = openStore(home);
afterAll(() => {
  store.close();
  rmSync(home, { recursive: true });
});

const task = (id: string): Task => ({
  ...{ id, version: 1, createdAt: 1, kind: 'data', split: 'validation', source: 'seed', candidateId: null },
  ...{ dir: id, contentHash: id, question: id, status: 'kept', reason: null },
});

function result(job: RolloutJob, verifier: number | null): RolloutResult {
  const error = verifier === null ? 'The gateway stopped while it was answering.' : null;
  const counts = { calls: 3, blocked: 0, promptTokens: 10, completionTokens: 5, seconds: 1 };
  return { job, verifier, reward: verifier, ...counts, finish: 'stop', error, sessionId: null, trace: [] };
}

it('runs once more what got no score, and only that', async () => {
  const ran: string[] = [];
  const tries = new Map<string, number>();
  // Stands for the sandboxes: `lost` never gets a score, `unlucky` does the second time.
  const pool = {
    run: async (jobs: RolloutJob[], { onResult }: { onResult: (r: RolloutResult) => void }) => {
      for (const job of jobs) {
        ran.push(job.taskId);
        const count = (tries.get(job.taskId) ?? 0) + 1;
        tries.set(job.taskId, count);
        onResult(result(job, job.taskId === 'lost' || (job.taskId === 'unlucky' && count === 1) ? null : 1));
      }
    },
  } as unknown as RolloutPool;
  const services = { store, engine: async () => ({ pid: 1 }) } as unknown as Services;
  const { evaluation } = await evaluate({
    services,
    pool,
    tasks: ['fine', 'unlucky', 'lost'].map(task),
    samples: 1,
    checkpointId: null,
    context: {
      ...{ runId: 'run-1', phase: 'validation-1', step: 1, split: 'validation', adapter: null, temperature: 0.8 },
      config: RunConfig.parse({}),
    },
  });
  expect(ran).toEqual(['fine', 'unlucky', 'lost', 'unlucky', 'lost']);
  expect(evaluation).toMatchObject({ tasks: 3, rollouts: 2, pass1: 1 });
});
