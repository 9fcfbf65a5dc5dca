/** `node tests/native/run-cli.mjs engine ...`: the engine commands from the TypeScript build, without the rest of the CLI. */
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';

const dist = join(dirname(dirname(dirname(fileURLToPath(import.meta.url)))), 'dist', 'main', 'engine');
const bodies = { logprobs: 'logprobsCommand', generate: 'generateCommand', step: 'stepCommand' };
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    model: { type: 'string' },
    adapter: { type: 'string' },
    precision: { type: 'string' },
    batch: { type: 'string' },
    output: { type: 'string', short: 'o' },
    jsonl: { type: 'boolean' },
    greedy: { type: 'boolean' },
    ids: { type: 'boolean' },
    'ignore-eos': { type: 'boolean' },
    temperature: { type: 'string' },
    seed: { type: 'string' },
  },
});
const [, name, file] = positionals;
const io = {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  interactive: false,
  signal: new AbortController().signal,
};
try {
  const module = await import(pathToFileURL(join(dist, `cli-${name}.js`)).href);
  process.exitCode = await module[bodies[name]]({ ...values, ignoreEos: values['ignore-eos'], file }, io);
} catch (error) {
  process.stderr.write(`tackroom: ${error.message} (${error.code})\n`);
  process.exitCode = error.code === 'BAD_ARGUMENT' ? 2 : 1;
}
