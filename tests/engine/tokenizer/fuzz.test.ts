/**
 * Damaged tokenizers and chat templates: each ends in a tokenizer that works or in an error with a code, in bounded time.
 * `npm run fuzz -- --kind tokenizer` runs many more. TACKROOM_FUZZ_COUNT, TACKROOM_FUZZ_SEED and TACKROOM_FUZZ_FIRST
 * (the number of the first input) choose the inputs; TACKROOM_FUZZ_SAVE keeps the last one in a folder.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TackroomError } from '../../../contract/errors.js';
import type { Codec } from '../../../main/engine/codec.js';
import type { ModelCodec } from '../../../main/engine/model-codec.js';
import { openCodec } from '../../../main/engine/open-codec.js';
import type { Tokenizer } from '../../../main/engine/tokenizer/tokenizer.js';
import { damagedFolder, damagedGguf, damagedTokenizer, JSON_KINDS, SOUND_TOKENIZER } from './fuzz-inputs.js';
import { Random } from './fuzz-random.js';

const COUNT = Number(process.env.TACKROOM_FUZZ_COUNT ?? 600);
const FIRST = Number(process.env.TACKROOM_FUZZ_FIRST ?? 0);
const SEED = Number(process.env.TACKROOM_FUZZ_SEED ?? process.env.TACKROOM_PROPERTY_SEED ?? 20261129);
/** Processor time for one input. A refused template may take half a second; a hang takes minutes. */
const LIMIT_MS = 5000;
/** Ids beyond the number of tokens in the file. */
const HOLES = 65_536;

const PROBE = `ab abab  aaa\n<s>hello</s> <tool>123 {"k": 1} ж🙂\ud800 ${'a'.repeat(300)}${' '.repeat(300)}${'ab '.repeat(40)}`;
const MESSAGES = [
  { role: 'system' as const, content: 'S <s>' },
  { role: 'user' as const, content: 'a b\n\nc' },
  { role: 'assistant' as const, content: 'ж' },
  { role: 'user' as const, content: '' },
];
const TOOLS = [{ type: 'function' as const, function: { name: 'f', parameters: { type: 'object' } } }];

let dir: string;
beforeAll(() => {
  dir = process.env.TACKROOM_FUZZ_SAVE ?? mkdtempSync(join(tmpdir(), 'tackroom-fuzz-'));
  mkdirSync(dir, { recursive: true });
});
afterAll(() => {
  if (!process.env.TACKROOM_FUZZ_SAVE) rmSync(dir, { recursive: true, force: true });
});

/** A new file each time: some file systems wait for the disk when one is written over. */
function writeNew(file: string, content: string | Uint8Array): void {
  rmSync(file, { force: true });
  writeFileSync(file, content);
}

/** What must hold of any tokenizer. `units`: the length of its file. */
function probe(tokenizer: Tokenizer, units: number): void {
  const { vocabSize } = tokenizer;
  const isId = (id: unknown) => Number.isInteger(id) && (id as number) >= 0 && (id as number) < vocabSize;
  if (!(vocabSize <= units + HOLES)) throw new Error(`${vocabSize} tokens in a file of ${units} units`);
  for (const special of [false, true]) {
    const ids = tokenizer.encode(PROBE, { special, breaks: [3, 20] });
    const odd = ids.find((id) => !isId(id));
    if (odd !== undefined || ids.includes(undefined as never)) throw new Error(`it encodes to the id ${odd}`);
    if (typeof tokenizer.decode(ids) !== 'string') throw new Error('it decodes to no text');
    tokenizer.decodeBytes([...ids.slice(0, 3), 2 ** 30, -1], { continued: true });
  }
  for (const id of [tokenizer.bosId, tokenizer.eosId])
    if (id !== null && !isId(id)) throw new Error(`it names the id ${id}`);
  for (const id of tokenizer.endIds) if (!Number.isSafeInteger(id) || id < 0) throw new Error(`it ends with ${id}`);
}

function probeCodec(codec: Codec & Partial<ModelCodec>, units: number): void {
  if (codec.tokenizer) probe(codec.tokenizer, units);
  const ids = codec.encodePrompt(MESSAGES, TOOLS);
  if (!ids.every((id) => Number.isInteger(id) && id >= 0)) throw new Error('the prompt has an odd id');
  codec.decode(ids);
  const answer = codec.openAnswer(ids, TOOLS);
  answer.push(ids.slice(0, 20));
  answer.finish();
}

/** Runs every input of a kind; `write` leaves it in `dir`, and returns its length. */
function run(kind: string, where: string, write: (random: Random) => number): void {
  const codes: Record<string, number> = {};
  let slowestMs = 0;
  let slowest = -1;
  let totalMs = 0;
  for (let input = FIRST; input < FIRST + COUNT; input++) {
    const units = write(new Random(SEED, input));
    const began = process.cpuUsage();
    let code = 'accepted';
    try {
      const { codec, check } = openCodec(where);
      probeCodec(codec, units);
      // Whether it fits a model of so many rows is another question.
      if (input % 16 === 0) check(300);
    } catch (error) {
      if (!(error instanceof TackroomError))
        throw new Error(`${kind}: input ${input} of seed ${SEED} ends in ${String(error)}`, { cause: error });
      code = error.code;
    }
    const { user, system } = process.cpuUsage(began);
    const ms = (user + system) / 1000;
    totalMs += ms;
    if (ms > slowestMs) [slowestMs, slowest] = [ms, input];
    if (ms > LIMIT_MS) throw new Error(`${kind}: input ${input} of seed ${SEED} takes ${ms.toFixed(0)} ms`);
    codes[code] = (codes[code] ?? 0) + 1;
  }
  if (process.env.TACKROOM_FUZZ_COUNT)
    console.log(
      `${kind}: ${COUNT} inputs in ${(totalMs / 1000).toFixed(1)} s of the processor, slowest ${slowest} (${slowestMs.toFixed(0)} ms), ${JSON.stringify(codes)}`,
    );
  if (COUNT < 100) return;
  // Inputs that are all refused at the first character would prove nothing, nor would inputs that are all sound.
  const accepted = codes.accepted ?? 0;
  expect(accepted).toBeGreaterThan(COUNT / 20);
  expect(COUNT - accepted).toBeGreaterThan(COUNT / 20);
}

const timeout = 30_000 + COUNT * 200;

describe('damaged files', () => {
  it.each(JSON_KINDS)('a tokenizer.json of the kind %s', { timeout }, (kind) => {
    const where = join(dir, kind);
    mkdirSync(where, { recursive: true });
    run(kind, where, (random) => {
      const text = damagedTokenizer(kind, random);
      writeNew(join(where, 'tokenizer.json'), text);
      return text.length;
    });
  });

  it.each(['gpt2', 'llama'] as const)('GGUF metadata of the kind %s', { timeout }, (kind) => {
    const file = join(dir, `${kind}.gguf`);
    run(`gguf ${kind}`, file, (random) => {
      const bytes = damagedGguf(kind, random);
      writeNew(file, bytes);
      return bytes.length;
    });
  });

  it('a chat template and the files that name tokens', { timeout }, () => {
    const where = join(dir, 'template');
    mkdirSync(where, { recursive: true });
    writeFileSync(join(where, 'tokenizer.json'), SOUND_TOKENIZER);
    run('template', where, (random) => {
      for (const [name, text] of Object.entries(damagedFolder(random))) writeNew(join(where, name), text);
      return SOUND_TOKENIZER.length;
    });
  });
});
