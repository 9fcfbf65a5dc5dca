/** `tackroom adapters …`. */
import { TackroomError } from '../../contract/errors.js';
import { Harness } from '../../contract/records.js';
import {
  currentDeployment,
  exportPeft,
  findAdapter,
  peftBaseModel,
  registerAdapter,
  rollbackAdapter,
  swapAdapter,
} from '../adapters/registry.js';
import { defaultHome } from '../services/paths.js';
import { type GlobalOptions, withServices, withStore } from './context.js';
import { parseHarness, reloadRoutes } from './gateway-routes.js';
import type { CommandIo } from './io.js';
import { table } from './table.js';

export async function adaptersListCommand(options: GlobalOptions & { json?: boolean }, io: CommandIo): Promise<number> {
  return withStore(options, (store) => {
    const adapters = store.adapter.list();
    const used = new Map(Harness.options.map((h) => [currentDeployment(store, h)?.adapterId ?? '', h] as const));
    if (options.json) io.stdout.write(`${JSON.stringify({ adapters })}\n`);
    else
      io.stdout.write(
        table(
          ['hash', 'name', 'base', 'pass@1', 'made', 'used by'],
          adapters.map((a) => [
            a.hash.slice(0, 12),
            a.name,
            a.baseModel,
            a.pass1 === null ? '-' : a.pass1.toFixed(3),
            new Date(a.createdAt).toISOString().slice(0, 16),
            used.get(a.id) ?? '',
          ]),
        ),
      );
    return 0;
  });
}

export async function adaptersShowCommand(options: GlobalOptions & { key: string }, io: CommandIo): Promise<number> {
  return withStore(options, (store) => {
    const adapter = findAdapter(store, options.key);
    const run = adapter.runId ? store.run.get(adapter.runId) : undefined;
    io.stdout.write(
      `${JSON.stringify({ adapter, run, deployments: store.deployment.list().filter((d) => d.adapterId === adapter.id) }, null, 2)}\n`,
    );
    return 0;
  });
}

export async function adaptersExportCommand(
  options: GlobalOptions & { key: string; format: string; output: string },
  io: CommandIo,
): Promise<number> {
  if (options.format !== 'peft')
    throw new TackroomError(
      'UNSUPPORTED',
      `Adapters cannot be exported as ${options.format} yet.`,
      'Use --format peft.',
    );
  return withStore(options, (store) => {
    io.stdout.write(`${exportPeft(findAdapter(store, options.key), options.output)}\n`);
    return 0;
  });
}

export async function adaptersImportCommand(
  options: GlobalOptions & { dir: string; name?: string; model?: string },
  io: CommandIo,
): Promise<number> {
  const { dir } = options;
  return withServices(io, options, async (services) => {
    const adapter = await registerAdapter(services, {
      dir,
      name: options.name ?? dir.split('/').at(-1) ?? 'imported',
      baseModel: peftBaseModel(dir),
      runId: null,
      checkpointId: null,
      pass1: null,
    });
    io.stdout.write(`${adapter.hash}\n`);
    return 0;
  });
}

export async function adaptersSwapCommand(
  options: GlobalOptions & { key: string; harness: string },
  io: CommandIo,
): Promise<number> {
  const home = defaultHome(options.home);
  const harness = parseHarness(options.harness);
  return withStore(options, async (store) => {
    const id = options.key === 'base' ? null : findAdapter(store, options.key).id;
    const deployment = await swapAdapter(store, () => reloadRoutes(home), harness, id);
    io.stdout.write(`${harness} is served by ${deployment.adapterHash?.slice(0, 12) ?? 'the base model'}\n`);
    return 0;
  });
}

export async function adaptersRollbackCommand(
  options: GlobalOptions & { harness: string },
  io: CommandIo,
): Promise<number> {
  const home = defaultHome(options.home);
  const harness = parseHarness(options.harness);
  return withStore(options, async (store) => {
    const deployment = await rollbackAdapter(store, () => reloadRoutes(home), harness);
    io.stdout.write(`${harness} is served by ${deployment.adapterHash?.slice(0, 12) ?? 'the base model'}\n`);
    return 0;
  });
}
