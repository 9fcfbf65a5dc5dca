/** Models that lie on this disk, by a name of the user's. The files stay where they are and are never changed. */
import { basename, resolve } from 'node:path';
import { z } from 'zod';
import { TackroomError } from '../../contract/errors.js';
import type { Store } from '../store/store.js';
import { inspectForEngine, type ModelSummary } from './inspect.js';

/** Name of the built-in model. */
export const DEMO_MODEL = 'demo';
const SETTING = 'models';

const Entry = z.object({
  path: z.string(),
  kind: z.enum(['gguf', 'huggingface']).nullable(),
  architecture: z.string().nullable(),
  parameters: z.number().nullable(),
  fileBytes: z.number().nullable(),
  addedAt: z.number().nullable(),
});
export type LibraryEntry = z.infer<typeof Entry>;

/** Earlier versions kept the path alone. */
const bare = (path: string): LibraryEntry => ({
  path,
  kind: null,
  architecture: null,
  parameters: null,
  fileBytes: null,
  addedAt: null,
});
const Entries = z.record(z.string(), z.union([z.string().transform(bare), Entry]));

export class ModelLibrary {
  constructor(private readonly store: Store) {}

  list(): Record<string, LibraryEntry> {
    return Entries.parse(this.store.setting(SETTING) ?? {});
  }

  find(id: string): LibraryEntry | undefined {
    const all = this.list();
    return Object.hasOwn(all, id) ? all[id] : undefined;
  }

  /**
   * Reads the headers, loads nothing. Throws BAD_ARGUMENT for a name that cannot be used, the errors of reading, and the
   * engine's reason where it would refuse the model.
   */
  add(path: string, name?: string, now = Date.now()): { id: string; summary: ModelSummary } {
    const whole = resolve(path);
    const id = name ?? basename(whole).replace(/\.gguf$/i, '');
    if (!/^[\w][\w.:-]{0,99}$/.test(id))
      throw new TackroomError(
        'BAD_ARGUMENT',
        `${JSON.stringify(id)} cannot be the name of a model.`,
        'Use letters, digits, dots and dashes: --name my-model.',
      );
    if (id === DEMO_MODEL)
      throw new TackroomError(
        'BAD_ARGUMENT',
        `The name ${DEMO_MODEL} belongs to the built-in model.`,
        'Choose another with --name.',
      );
    const known = this.find(id);
    if (known && known.path !== whole)
      throw new TackroomError(
        'BAD_ARGUMENT',
        `The name ${id} belongs to ${known.path}.`,
        `Choose another with --name, or forget that one with \`tackroom models remove ${id}\`.`,
      );
    const summary = inspectForEngine(whole);
    const { kind, architecture, parameters, fileBytes } = summary;
    this.#change((all) => ({
      ...all,
      [id]: { path: whole, kind, architecture, parameters, fileBytes, addedAt: now },
    }));
    return { id, summary };
  }

  /** Forgets a model; returns what it was. Throws NOT_FOUND, and BAD_ARGUMENT for the built-in model. */
  remove(id: string): LibraryEntry {
    if (id === DEMO_MODEL)
      throw new TackroomError(
        'BAD_ARGUMENT',
        `The model ${DEMO_MODEL} is built in and cannot be removed.`,
        'Only models that were added can; `tackroom models list` shows them.',
      );
    const known = this.find(id);
    if (!known)
      throw new TackroomError('NOT_FOUND', `There is no model ${id}.`, 'List them with `tackroom models list`.');
    this.#change(({ [id]: _, ...rest }) => rest);
    return known;
  }

  #change(change: (all: Record<string, LibraryEntry>) => Record<string, LibraryEntry>): void {
    this.store.transaction(() => this.store.setSetting(SETTING, change(this.list())));
  }
}
