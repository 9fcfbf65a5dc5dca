/** `tackroom models …`: base models that lie on disk. */
import { existsSync } from 'node:fs';
import { inspectForEngine, type ModelSummary } from '../models/inspect.js';
import { DEMO_MODEL, ModelLibrary } from '../models/library.js';
import { demoModelDir } from '../services/paths.js';
import { findModel, type GlobalOptions, withStore } from './context.js';
import type { CommandIo } from './io.js';
import { bytesText, table } from './table.js';

export async function modelsListCommand(options: GlobalOptions & { json?: boolean }, io: CommandIo): Promise<number> {
  const known = await withStore(options, (store) => new ModelLibrary(store).list());
  const rows = [
    { id: DEMO_MODEL, path: demoModelDir(), architecture: null, parameters: null, fileBytes: null },
    ...Object.entries(known).map(([id, entry]) => ({ id, ...entry })),
  ].map((row) => ({ ...row, present: existsSync(row.path) }));
  if (options.json) io.stdout.write(`${JSON.stringify({ models: rows })}\n`);
  else
    io.stdout.write(
      table(
        ['id', 'architecture', 'size', 'path'],
        rows.map(({ id, architecture, fileBytes, path, present }) => [
          id,
          architecture,
          fileBytes === null ? null : bytesText(fileBytes),
          present ? path : `${path} (not there)`,
        ]),
      ),
    );
  return 0;
}

export async function modelsAddCommand(
  options: GlobalOptions & { path: string; name?: string },
  io: CommandIo,
): Promise<number> {
  return withStore(options, (store) => {
    const { id, summary } = new ModelLibrary(store).add(options.path, options.name);
    io.stdout.write(`${id}\n`);
    io.stderr.write(
      `${summary.architecture}, ${bytesText(summary.fileBytes)}; serve it with: tackroom serve --model ${id}\n`,
    );
    return 0;
  });
}

export async function modelsInspectCommand(
  options: GlobalOptions & { model: string; json?: boolean },
  io: CommandIo,
): Promise<number> {
  const summary = inspectForEngine(await findModel(options));
  if (options.json) io.stdout.write(`${JSON.stringify(summary)}\n`);
  else io.stdout.write(table(['what', 'value'], describe(summary)));
  return 0;
}

function describe({ shape, memory, tensorTypes, tokenizer, ...rest }: ModelSummary): [string, string][] {
  return [
    ['path', rest.path],
    ['name', rest.name],
    ['architecture', rest.architecture],
    ['parameters', rest.parameters.toLocaleString('en')],
    [
      'shape',
      `${shape.layers} layers of ${shape.hidden}, ${shape.heads} heads, ${shape.kvHeads} for keys and values, of ${shape.headDim}`,
    ],
    ['vocabulary', String(shape.vocabulary)],
    [
      'tensors',
      Object.entries(tensorTypes)
        .map(([type, n]) => `${n} ${type}`)
        .join(', '),
    ],
    ['tokenizer', tokenizer ? `${tokenizer.kind}, ${tokenizer.tokens} tokens` : 'none'],
    ['context', `${rest.contextLength} tokens`],
    ['file', bytesText(rest.fileBytes)],
    ['memory for weights', bytesText(memory.weightsBytes)],
    ['memory for one context', `${bytesText(memory.contextBytes)} (${memory.kvBytesPerToken} bytes a token)`],
  ];
}

export async function modelsRemoveCommand(options: GlobalOptions & { id: string }, io: CommandIo): Promise<number> {
  return withStore(options, (store) => {
    const { path } = new ModelLibrary(store).remove(options.id);
    io.stdout.write(`Forgot ${options.id}; ${path} is left as it is.\n`);
    return 0;
  });
}
