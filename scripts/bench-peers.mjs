/**
 * Fetches and builds what `npm run bench:engine` measures our engine against, below build/peers. Nothing of it is shipped,
 * and no test needs it.
 *
 * usage: node scripts/bench-peers.mjs [--list] [--only NAME,NAME]    names: llama.cpp, models, node, torch
 * Idempotent: a part that stands is left alone, a part that was broken off goes on. A part that fails does not stop the
 * others; the exit code is 1 when one failed.
 */
import { parseArgs } from 'node:util';
import { llamaCpp } from './peers/llama-cpp.mjs';
import { models } from './peers/models.mjs';
import { nodeLlamaCpp } from './peers/node-llama-cpp.mjs';
import { torch } from './peers/torch.mjs';

// In this order: the models are written by llama.cpp's own quantiser.
const PARTS = { 'llama.cpp': llamaCpp, models, node: nodeLlamaCpp, torch };

const { values } = parseArgs({ options: { list: { type: 'boolean' }, only: { type: 'string' } } });
const names = values.only?.split(',') ?? Object.keys(PARTS);
const unknown = names.find((name) => !(name in PARTS));
if (unknown !== undefined) {
  console.error(`There is no part ${unknown}. Parts: ${Object.keys(PARTS).join(', ')}`);
  process.exit(2);
}

console.log('Peers of the engine benchmark, below build/peers:');
for (const [name, part] of Object.entries(PARTS))
  console.log(`  ${name.padEnd(10)} ${part.name}: ${part.done() ? 'is there' : part.cost}`);

if (!values.list)
  for (const name of names) {
    const part = PARTS[name];
    if (part.done()) continue;
    const started = Date.now();
    try {
      await part.make((line) => console.log(`${name}: ${line}`));
      console.log(`${name}: ready (${Math.round((Date.now() - started) / 1000)} s)`);
    } catch (error) {
      console.error(`${name}: ${error.message}${error.hint ? `\n${error.hint}` : ''}`);
      process.exitCode = 1;
    }
  }
