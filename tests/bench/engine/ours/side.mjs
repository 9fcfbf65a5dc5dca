/** Our engine as a side of a contest: a process of its own for every measurement. */
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { json } from '../process.mjs';

const main = join(dirname(fileURLToPath(import.meta.url)), 'main.mjs');

/** Runs one measurement of main.mjs and returns what it printed. */
export const measureOurs = (job, policy = 'default') => json(process.execPath, [main, JSON.stringify(job)], { policy });

export const ours = (job, policy) => ({ name: `ours (${policy})`, ours: true, run: () => measureOurs(job, policy) });
