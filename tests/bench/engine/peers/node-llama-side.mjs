/** node-llama-cpp as a side of a contest. */
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { json } from '../process.mjs';

const script = join(dirname(fileURLToPath(import.meta.url)), 'node-llama.mjs');

export const nodeLlama = ({ policy, ...job }) => ({
  name: `node-llama-cpp (${policy}, flash ${job.flash ? 'on' : 'off'})`,
  run: () => json(process.execPath, [script, JSON.stringify(job)], { policy }),
});
