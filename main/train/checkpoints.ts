/** Checkpoints of a run on disk (`<runs>/<run>/step-NNNN/`: PEFT folder + trainer.state) and in the store. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Checkpoint } from '../../contract/records.js';
import { STATE_FILE } from '../engine/trainer-session.js';
import type { Services } from '../services/services.js';
import type { Store } from '../store/store.js';

export const checkpointId = (runId: string, step: number): string => `${runId}/step-${step}`;

export async function saveCheckpoint(services: Services, runId: string, step: number): Promise<Checkpoint> {
  const dir = join(services.paths.runs, runId, `step-${String(step).padStart(4, '0')}`);
  const { hash } = await services.engine('train.save', { dir }, { timeoutMs: 120_000 });
  return services.store.checkpoint.put({
    id: checkpointId(runId, step),
    version: 1,
    createdAt: Date.now(),
    runId,
    step,
    dir,
    adapterHash: hash,
  });
}

/** Newest first, only those whose files are there. */
export function usableCheckpoints(store: Store, runId: string): Checkpoint[] {
  return store.checkpoint
    .list({ where: { runId }, orderBy: 'step' })
    .filter((c) => existsSync(join(c.dir, STATE_FILE)) && existsSync(join(c.dir, 'adapter_model.safetensors')));
}
