/**
 * One measurement of our engine in a process of its own.
 *
 * usage: node main.mjs '{"measure": NAME, "model": FILE, "threads": N, ...}'     prints one JSON line
 * NAME is a function of serve.mjs or train.mjs; the other fields are its options.
 */
import { openEngine } from './open.mjs';
import { decode, info, lora, prefill } from './serve.mjs';
import { train, tree, yields } from './train.mjs';

const MEASURES = { decode, prefill, lora, info, train, tree, yields };

const { measure, model, threads, ...options } = JSON.parse(process.argv[2]);
const engine = await openEngine(model, threads);
console.log(JSON.stringify(await MEASURES[measure](engine, options)));
process.exit(0);
