/**
 * Adapters by content: `<home>/adapters/<hash>/` holds the PEFT folder, the store its provenance (run, checkpoint).
 * A deployment says which adapter a harness is served by; the chain of deployments is what rolling back walks.
 */
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { TackroomError } from '../../contract/errors.js';
import type { Adapter, Deployment, Harness } from '../../contract/records.js';
import type { Services } from '../services/services.js';
import { newId } from '../store/ids.js';
import type { Store } from '../store/store.js';

const FILES = ['adapter_config.json', 'adapter_model.safetensors'];

export interface RegisterOptions {
  dir: string;
  name: string;
  baseModel: string;
  runId: string | null;
  checkpointId: string | null;
  pass1: number | null;
}

/** Loads the PEFT folder into the engine (which checks it against the model), copies it into the registry, records it. */
export async function registerAdapter(services: Services, options: RegisterOptions): Promise<Adapter> {
  const dir = resolve(options.dir);
  for (const file of FILES)
    if (!existsSync(join(dir, file)))
      throw new TackroomError(
        'ADAPTER_CORRUPT',
        `${dir} is not a PEFT adapter: ${file} is missing.`,
        'Name a folder written by PEFT or by `tackroom adapters export`.',
      );
  const { hash, rank, alpha } = await services.engine('adapter.load', { dir });
  const known = services.store.adapter.list({ where: { hash } })[0];
  if (known) return known;
  const target = join(services.paths.adapters, hash);
  if (!existsSync(target)) {
    const temporary = `${target}.tmp-${process.pid}`;
    mkdirSync(temporary, { recursive: true });
    for (const file of FILES) cpSync(join(dir, file), join(temporary, file));
    rmSync(target, { recursive: true, force: true });
    renameSync(temporary, target);
  }
  return services.store.adapter.put({
    id: newId('ada'),
    version: 1,
    createdAt: Date.now(),
    hash,
    name: options.name,
    baseModel: options.baseModel,
    runId: options.runId,
    checkpointId: options.checkpointId,
    dir: target,
    rank,
    alpha,
    pass1: options.pass1,
    bytes: statSync(join(target, 'adapter_model.safetensors')).size,
  });
}

/** By id, full hash, hash prefix (6 or more digits) or name. Errors: NOT_FOUND, BAD_ARGUMENT when it is ambiguous. */
export function findAdapter(store: Store, key: string): Adapter {
  const all = store.adapter.list();
  const exact = all.find((a) => a.id === key || a.hash === key);
  if (exact) return exact;
  const matches = all.filter((a) => a.name === key || (key.length >= 6 && a.hash.startsWith(key)));
  if (matches.length === 1) return matches[0]!;
  if (matches.length > 1)
    throw new TackroomError(
      'BAD_ARGUMENT',
      `${matches.length} adapters are called ${key}.`,
      'Use the hash from `tackroom adapters list`.',
    );
  throw new TackroomError('NOT_FOUND', `There is no adapter ${key}.`, 'List them with `tackroom adapters list`.');
}

export function currentDeployment(store: Store, harness: Harness): Deployment | null {
  return store.deployment.list({ where: { harness }, limit: 1 })[0] ?? null;
}

/** Puts an adapter (null: the base model) behind a harness. Requests that run finish on what they started with. */
export async function swapAdapter(
  store: Store,
  reload: () => Promise<unknown>,
  harness: Harness,
  adapterId: string | null,
): Promise<Deployment> {
  const adapter = adapterId === null ? null : store.adapter.get(adapterId);
  if (adapterId !== null && !adapter)
    throw new TackroomError(
      'NOT_FOUND',
      `There is no adapter ${adapterId}.`,
      'List them with `tackroom adapters list`.',
    );
  const previous = currentDeployment(store, harness);
  const deployment = store.deployment.put({
    id: newId('dep'),
    version: 1,
    createdAt: Math.max(Date.now(), (previous?.createdAt ?? 0) + 1),
    harness,
    adapterId,
    adapterHash: adapter?.hash ?? null,
    previousId: previous?.id ?? null,
  });
  await reload();
  return deployment;
}

/** Goes back to what the harness used before its current adapter; to the base model when there was nothing. */
export async function rollbackAdapter(
  store: Store,
  reload: () => Promise<unknown>,
  harness: Harness,
): Promise<Deployment> {
  const current = currentDeployment(store, harness);
  if (!current) throw new TackroomError('NOT_FOUND', `Nothing was ever swapped behind ${harness}.`);
  let before = current.previousId === null ? null : store.deployment.get(current.previousId);
  while (before && before.adapterHash === current.adapterHash)
    before = before.previousId === null ? null : store.deployment.get(before.previousId);
  return swapAdapter(store, reload, harness, before?.adapterId ?? null);
}

/** Copies an adapter out as a PEFT folder. */
export function exportPeft(adapter: Adapter, out: string): string {
  const target = resolve(out);
  if (existsSync(target) && !statSync(target).isDirectory())
    throw new TackroomError('BAD_ARGUMENT', `${target} is a file.`);
  mkdirSync(target, { recursive: true });
  for (const file of FILES) cpSync(join(adapter.dir, file), join(target, file));
  return target;
}

export function peftBaseModel(dir: string): string {
  const config = JSON.parse(readFileSync(join(dir, 'adapter_config.json'), 'utf8')) as {
    base_model_name_or_path?: string;
  };
  return basename(config.base_model_name_or_path ?? 'unknown');
}
