/** A rollout pool for a command, and the adapter it was asked for. */
import { existsSync } from 'node:fs';
import { findAdapter } from '../adapters/registry.js';
import { findPi } from '../harness/find-pi.js';
import { RolloutPool } from '../rollout/pool.js';
import { requireSandbox } from '../sandbox/detect.js';
import type { Services } from '../services/services.js';

export const MAX_WORKERS = 64;

export async function openPool(services: Services, workers: number): Promise<RolloutPool> {
  return RolloutPool.create({
    workers,
    gateway: services.gatewayClient,
    driver: await requireSandbox(),
    pi: await findPi(),
    paths: services.paths,
  });
}

/** A PEFT folder, or an adapter of the registry; `base` or nothing is the base model. Returns the hash. */
export async function resolveAdapter(services: Services, key: string | undefined): Promise<string | null> {
  if (key === undefined || key === 'base') return null;
  if (existsSync(key)) return (await services.engine('adapter.load', { dir: key })).hash;
  return findAdapter(services.store, key).hash;
}
