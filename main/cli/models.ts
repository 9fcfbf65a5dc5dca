/** `tackroom models …`: base models that lie on disk. */
import { resolve } from 'node:path';
import { TackroomError } from '../../contract/errors.js';
import { loadAddon } from '../../native/addon.js';
import { demoModelDir } from '../services/paths.js';
import { type GlobalOptions, withStore } from './context.js';
import type { CommandIo } from './io.js';
import { table } from './table.js';

type Models = Record<string, string>;

export async function modelsListCommand(options: GlobalOptions & { json?: boolean }, io: CommandIo): Promise<number> {
  return withStore(options, (store) => {
    const models = { demo: demoModelDir(), ...(store.setting('models') as Models | undefined) };
    if (options.json) io.stdout.write(`${JSON.stringify({ models })}\n`);
    else io.stdout.write(table(['id', 'folder'], Object.entries(models)));
    return 0;
  });
}

export async function modelsAddCommand(
  options: GlobalOptions & { dir: string; name?: string },
  io: CommandIo,
): Promise<number> {
  const dir = resolve(options.dir);
  const id = options.name ?? dir.split('/').at(-1)!;
  if (id === 'demo')
    throw new TackroomError(
      'BAD_ARGUMENT',
      'The name demo belongs to the built-in model.',
      'Choose another with --name.',
    );
  const model = await loadAddon().loadModel(dir, { threads: 1 });
  model.free();
  return withStore(options, (store) => {
    store.setSetting('models', { ...(store.setting('models') as Models | undefined), [id]: dir });
    io.stdout.write(`${id}\n`);
    return 0;
  });
}

export async function modelsInspectCommand(options: { dir: string; json?: boolean }, io: CommandIo): Promise<number> {
  const model = await loadAddon().loadModel(resolve(options.dir === 'demo' ? demoModelDir() : options.dir), {
    threads: 1,
  });
  const info = model.info;
  model.free();
  if (options.json) io.stdout.write(`${JSON.stringify(info)}\n`);
  else
    io.stdout.write(
      table(
        ['what', 'value'],
        Object.entries(info).map(([key, value]) => [key, String(value)]),
      ),
    );
  return 0;
}

export async function modelsRemoveCommand(options: GlobalOptions & { id: string }, io: CommandIo): Promise<number> {
  return withStore(options, (store) => {
    const { [options.id]: removed, ...rest } = (store.setting('models') as Models | undefined) ?? {};
    if (!removed)
      throw new TackroomError(
        'NOT_FOUND',
        `There is no model ${options.id}.`,
        'List them with `tackroom models list`.',
      );
    store.setSetting('models', rest);
    io.stdout.write(`Forgot ${options.id}; ${removed} is left as it is.\n`);
    return 0;
  });
}
