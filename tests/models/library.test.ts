import { existsSync, mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, describe, expect, it } from 'vitest';
import { findEngineModel, findModel } from '../../main/cli/context.js';
import type { CommandIo } from '../../main/cli/io.js';
import {
  modelsAddCommand,
  modelsInspectCommand,
  modelsListCommand,
  modelsRemoveCommand,
} from '../../main/cli/models.js';
import { sizeInBytes } from '../../main/cli/numbers.js';
import { inspectModel } from '../../main/models/inspect.js';
import { ModelLibrary } from '../../main/models/library.js';
import { cgroupFree, checkFits } from '../../main/models/memory.js';
import { demoModelDir } from '../../main/services/paths.js';
import { openStore } from '../../main/store/store.js';
import { addon, codeOf } from '../native/support.js';
import { writeGguf as gguf } from '../support/gguf-writer.js';

const home = mkdtempSync(join(tmpdir(), 'tackroom-library-'));
afterAll(() => rmSync(home, { recursive: true, force: true }));

const u32 = (n: number): Buffer => {
  const b = Buffer.alloc(4);
  b.writeUInt32LE(n);
  return b;
};
const u64 = (n: number): Buffer => {
  const b = Buffer.alloc(8);
  b.writeBigUInt64LE(BigInt(n));
  return b;
};
const text = (s: string): Buffer => Buffer.concat([u64(Buffer.byteLength(s)), Buffer.from(s)]);
const entry = (key: string, value: string | number | string[] | number[]): Buffer => {
  if (typeof value === 'string') return Buffer.concat([text(key), u32(8), text(value)]);
  if (typeof value === 'number') return Buffer.concat([text(key), u32(4), u32(value)]);
  const strings = typeof value[0] === 'string';
  return Buffer.concat([
    text(key),
    u32(9),
    u32(strings ? 8 : 4),
    u64(value.length),
    ...value.map((one) => (typeof one === 'string' ? text(one) : u32(one))),
  ]);
};

/** A GGUF file of two tensors, one Q4_K and one F32. */
function writeGguf(file: string): void {
  const metadata = [
    entry('general.architecture', 'lfm2'),
    entry('general.name', 'Small Test'),
    entry('lfm2.block_count', 4),
    entry('lfm2.context_length', 4096),
    entry('lfm2.embedding_length', 256),
    entry('lfm2.feed_forward_length', 512),
    entry('lfm2.attention.head_count', 8),
    // Layers without attention keep no keys and values.
    entry('lfm2.attention.head_count_kv', [0, 2, 0, 2]),
    entry('tokenizer.ggml.model', 'gpt2'),
    entry('tokenizer.ggml.pre', 'lfm2'),
    entry('tokenizer.ggml.tokens', ['a', 'b', 'c']),
  ];
  const tensor = (name: string, rows: number, type: number, offset: number): Buffer =>
    Buffer.concat([text(name), u32(2), u64(256), u64(rows), u32(type), u64(offset)]);
  const head = Buffer.concat([
    Buffer.from('GGUF'),
    u32(3),
    u64(2),
    u64(metadata.length),
    ...metadata,
    tensor('token_embd.weight', 3, 12, 0),
    tensor('blk.0.ffn_up.weight', 4, 0, 448),
  ]);
  writeFileSync(file, Buffer.concat([head, Buffer.alloc(32 - (head.length % 32)), Buffer.alloc(448 + 4096)]));
}

/** A small llama that the engine loads; `type` of its feed-forward matrices (0 F32, 8 Q8_0, 16 IQ2_XXS). */
function writeLlama(file: string, { type = 0, width = 32, architecture = 'llama' } = {}): void {
  const [hidden, vocab] = [32, 3];
  const key = (name: string): string => `${architecture}.${name}`;
  const tensor = (name: string, shape: number[], kind = 0) => ({
    name,
    shape,
    type: kind,
    data: Buffer.alloc(shape.reduce((a, b) => a * b, 4)),
  });
  const block = (name: string, shape: number[], kind = 0) => tensor(`blk.0.${name}.weight`, shape, kind);
  writeFileSync(
    file,
    gguf({
      metadata: {
        'general.architecture': architecture,
        [key('block_count')]: { u32: 1 },
        [key('context_length')]: { u32: 64 },
        [key('embedding_length')]: { u32: hidden },
        [key('feed_forward_length')]: { u32: 32 },
        [key('attention.head_count')]: { u32: 2 },
        [key('attention.head_count_kv')]: { u32: 1 },
        [key('attention.layer_norm_rms_epsilon')]: { f32: 1e-5 },
        'tokenizer.ggml.model': 'gpt2',
        'tokenizer.ggml.tokens': { strings: ['a', 'b', 'c'] },
      },
      tensors: [
        tensor('token_embd.weight', [hidden, vocab]),
        tensor('output_norm.weight', [hidden]),
        block('attn_norm', [hidden]),
        block('ffn_norm', [hidden]),
        block('attn_q', [hidden, hidden]),
        block('attn_k', [hidden, hidden / 2]),
        block('attn_v', [hidden, hidden / 2]),
        block('attn_output', [hidden, hidden]),
        block('ffn_gate', [hidden, width], type),
        block('ffn_up', [hidden, width], type),
        block('ffn_down', [width, hidden], type),
      ],
    }),
  );
}

function captured(): { io: CommandIo; out(): string } {
  const chunks: Buffer[] = [];
  const stdout = new PassThrough().on('data', (chunk: Buffer) => chunks.push(chunk));
  return {
    io: {
      stdin: new PassThrough(),
      stdout,
      stderr: new PassThrough(),
      interactive: false,
      signal: new AbortController().signal,
    },
    out: () => Buffer.concat(chunks).toString('utf8'),
  };
}
const json = async (run: (io: CommandIo) => Promise<number>): Promise<Record<string, unknown>> => {
  const { io, out } = captured();
  expect(await run(io)).toBe(0);
  return JSON.parse(out()) as Record<string, unknown>;
};

describe('inspectModel', () => {
  it('agrees with the engine about a folder', async () => {
    const model = await addon.loadModel(demoModelDir(), { threads: 1 });
    const { info } = model;
    const summary = inspectModel(demoModelDir());
    expect(summary).toMatchObject({
      kind: 'huggingface',
      architecture: info.architecture,
      parameters: info.parameters,
      contextLength: info.contextLength,
      shape: { layers: info.layers, hidden: info.hiddenSize, kvHeads: info.kvHeads, headDim: info.headDim },
      tokenizer: { kind: 'BPE', tokens: info.vocabSize },
    });
    expect(summary.memory.kvBytesPerToken).toBe(info.layers * info.kvHeads * info.headDim * 8);
    // Panels are padded, so the engine takes a little more.
    expect(info.bytes / summary.memory.weightsBytes).toBeGreaterThan(0.95);
    expect(info.bytes / summary.memory.weightsBytes).toBeLessThan(1.3);
    model.free();
  });

  it('reads the header of a GGUF file', () => {
    const file = join(home, 'small.gguf');
    writeGguf(file);
    expect(inspectModel(file)).toMatchObject({
      kind: 'gguf',
      name: 'Small Test',
      architecture: 'lfm2',
      parameters: 256 * 7,
      contextLength: 4096,
      shape: { layers: 4, hidden: 256, heads: 8, kvHeads: 2, headDim: 32, feedForward: 512, vocabulary: 3 },
      tensorTypes: { Q4_K: 1, F32: 1 },
      tokenizer: { kind: 'gpt2 (lfm2)', tokens: 3 },
      // Two layers keep keys and values, two short convolutions their input.
      memory: { kvBytesPerToken: 3072, contextBytes: 4096 * 3072 },
    });
  });

  it('says what is wrong with what is no model', async () => {
    const dir = join(home, 'broken');
    mkdirSync(dir);
    expect(await codeOf(() => inspectModel(dir))).toBe('MODEL_NOT_FOUND');
    writeFileSync(join(dir, 'config.json'), '{"model_type":"llama"}');
    expect(await codeOf(() => inspectModel(dir))).toBe('MODEL_NOT_FOUND');
    writeFileSync(join(dir, 'model.safetensors'), 'no header at all, and longer than eight bytes');
    expect(await codeOf(() => inspectModel(dir))).toBe('MODEL_CORRUPT');
    writeFileSync(join(dir, 'config.json'), '{');
    expect(await codeOf(() => inspectModel(dir))).toBe('MODEL_CORRUPT');
    expect(await codeOf(() => inspectModel(join(dir, 'model.safetensors')))).toBe('MODEL_CORRUPT');
    expect(await codeOf(() => inspectModel(join(home, 'nothing')))).toBe('MODEL_NOT_FOUND');
  });
});

describe('tackroom models', () => {
  it('adds, lists, finds, inspects and forgets; the files stay', async () => {
    const file = join(home, 'other.gguf');
    writeLlama(file);
    const { io, out } = captured();
    expect(await modelsAddCommand({ home, path: file }, io)).toBe(0);
    expect(out()).toBe('other\n');
    const { models } = await json((to) => modelsListCommand({ home, json: true }, to));
    expect(models).toMatchObject([
      { id: 'demo', present: true },
      { id: 'other', path: file, architecture: 'llama', present: true },
    ]);
    expect(await findModel({ home, model: 'other' })).toBe(file);
    expect(await findEngineModel({ home, model: 'other' })).toBe(file);
    expect(await findEngineModel({ home, model: './tests' })).toBe('./tests');
    expect(await json((to) => modelsInspectCommand({ home, model: 'other', json: true }, to))).toMatchObject({
      architecture: 'llama',
      path: file,
    });
    expect(await codeOf(() => modelsAddCommand({ home, path: demoModelDir(), name: 'other' }, io))).toBe(
      'BAD_ARGUMENT',
    );
    expect(await codeOf(() => modelsAddCommand({ home, path: file, name: 'demo' }, io))).toBe('BAD_ARGUMENT');
    expect(await codeOf(() => modelsAddCommand({ home, path: file, name: 'a b' }, io))).toBe('BAD_ARGUMENT');
    expect(await modelsRemoveCommand({ home, id: 'other' }, captured().io)).toBe(0);
    expect(existsSync(file)).toBe(true);
    expect(await codeOf(() => modelsRemoveCommand({ home, id: 'other' }, io))).toBe('NOT_FOUND');
    expect(await codeOf(() => findModel({ home, model: 'other' }))).toBe('MODEL_NOT_FOUND');
  });

  it('refuses what the engine would refuse, with its reason', async () => {
    const file = join(home, 'odd.gguf');
    const refused = async (says: RegExp): Promise<void> => {
      for (const run of [
        () => modelsAddCommand({ home, path: file }, captured().io),
        () => modelsInspectCommand({ home, model: file }, captured().io),
      ])
        await expect(run()).rejects.toThrow(says);
    };
    writeLlama(file, { type: 16 });
    await refused(/blk\.0\.ffn_gate\.weight as IQ2_XXS, which this engine does not read/);
    writeLlama(file, { width: 64 });
    await refused(/has the shape \[64, 32\] where \[32, 32\] is expected/);
    writeLlama(file, { architecture: 'mamba' });
    await refused(/mamba/);
    writeLlama(file, { type: 8 });
    await refused(/self_attn\.q_proj as F32 among quantised matrices, .*; use fp32, bf16 or int16/);
    (await addon.loadModel(file, { precision: 'fp32' })).free();
    // Only two of its tensors are there.
    writeGguf(file);
    await refused(/odd\.gguf/);
    expect(await codeOf(() => findModel({ home, model: 'odd' }))).toBe('MODEL_NOT_FOUND');
  });

  it('keeps the built-in model, and says so', async () => {
    await expect(modelsRemoveCommand({ home, id: 'demo' }, captured().io)).rejects.toMatchObject({
      code: 'BAD_ARGUMENT',
      message: 'The model demo is built in and cannot be removed.',
    });
  });

  it('says when the files of a known model are gone', async () => {
    const file = join(home, 'gone.gguf');
    writeLlama(file);
    await modelsAddCommand({ home, path: file }, captured().io);
    rmSync(file);
    await expect(findModel({ home, model: 'gone' })).rejects.toMatchObject({
      code: 'MODEL_NOT_FOUND',
      message: expect.stringContaining('no longer at') as string,
    });
  });

  it('reads what an earlier version wrote', () => {
    const store = openStore(join(home, 'old'));
    store.setSetting('models', { mine: demoModelDir() });
    expect(new ModelLibrary(store).find('mine')).toMatchObject({ path: demoModelDir(), architecture: null });
    store.close();
  });
});

describe('memory', () => {
  it('refuses a model that cannot fit, with figures and what would help', () => {
    const file = join(home, 'large.gguf');
    writeGguf(file);
    truncateSync(file, 40 * 2 ** 30);
    expect(() => checkFits(file, 8 * 2 ** 30)).toThrow(/Small Test needs about 40 GiB of memory; 8.0 GiB are free\./);
    expect(() => checkFits(file, 64 * 2 ** 30)).not.toThrow();
  });

  it('knows what a container may still take', () => {
    const root = join(home, 'cgroup');
    mkdirSync(root);
    expect(cgroupFree(root)).toBeNull();
    writeFileSync(join(root, 'memory.max'), 'max\n');
    writeFileSync(join(root, 'memory.current'), '3000\n');
    expect(cgroupFree(root)).toBeNull();
    writeFileSync(join(root, 'memory.max'), '10000\n');
    expect(cgroupFree(root)).toBe(7000);
    writeFileSync(join(root, 'memory.stat'), 'anon 1\ninactive_file 500\n');
    expect(cgroupFree(root)).toBe(7500);
  });

  it('reads sizes as people write them', async () => {
    expect(['2GiB', '512M', '1.5 GB', '1000'].map((size) => sizeInBytes('--x', size))).toEqual([
      2 ** 31,
      2 ** 29,
      1.5 * 2 ** 30,
      1000,
    ]);
    expect(await codeOf(() => sizeInBytes('--x', 'lots'))).toBe('BAD_ARGUMENT');
  });
});
