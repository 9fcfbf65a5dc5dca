import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './paths.mjs';
import { clearStamp, inputsHash, readStamp, writeStamp } from './stamps.mjs';

/**
 * A step that is skipped while its inputs hash to what its last good run saw and its outputs exist.
 * `inputs` and `outputs` are paths relative to the checkout; `facts()` are further strings that decide; `keep(name)`
 * filters files by name; `absent()` says why the step does not apply here, or null.
 */
export function stampedStep({ inputs, outputs, facts = () => [], keep, absent = () => null, run, ...step }) {
  const stamp = () => inputsHash(inputs, { facts: facts(), ...(keep ? { keep } : {}) });
  const current = () => outputs.every((path) => existsSync(join(ROOT, path))) && readStamp(step.name) === stamp();
  return {
    ...step,
    skip: () => absent() ?? (current() ? 'up to date' : null),
    async run(until) {
      // Hashed before the run: an input that changes meanwhile makes the next set-up run the step again.
      const seen = stamp();
      clearStamp(step.name);
      await run(until);
      const missing = outputs.filter((path) => !existsSync(join(ROOT, path)));
      if (missing.length > 0) throw new Error(`It ended well but did not make ${missing.join(', ')}.`);
      writeStamp(step.name, seen);
    },
  };
}
