import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TackroomError } from '../../contract/errors.js';
import { readGgufHeader } from '../../main/models/gguf-header.js';
import { writeGguf } from '../support/gguf-writer.js';
import { describeShared } from '../support/shared.js';

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'tackroom-gguf-'));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

function file(bytes: Uint8Array): string {
  const path = join(dir, 'model.gguf');
  writeFileSync(path, bytes);
  return path;
}

function codeOf(path: string): string {
  try {
    readGgufHeader(path);
    return 'read';
  } catch (error) {
    if (error instanceof TackroomError) return error.code;
    throw error;
  }
}

const SAMPLE = writeGguf({
  metadata: {
    'general.architecture': 'llama',
    'llama.block_count': { u32: 2 },
    'llama.rope.freq_base': { f32: 10_000 },
    'tokenizer.ggml.add_bos_token': true,
    'tokenizer.ggml.tokens': { strings: ['a', 'ä', ''] },
    'tokenizer.ggml.token_type': { i32s: [1, 3, -1] },
    'tokenizer.ggml.scores': { f32s: [0.5, -1, 0] },
  },
  tensors: [
    { name: 'token_embd.weight', shape: [4, 3], type: 0, data: new Uint8Array(48) },
    { name: 'output_norm.weight', shape: [4], type: 0, data: new Uint8Array(16) },
  ],
});
/** Where the first tensor's data begins: the sample ends with 64 and 32 bytes of it. */
const HEADER_BYTES = SAMPLE.length - 96;

/** The sample with a u64 written over the place behind a text. */
function withCount(after: string, skip: number, count: bigint): Buffer {
  const out = Buffer.from(SAMPLE);
  out.writeBigUInt64LE(count, out.indexOf(after) + after.length + skip);
  return out;
}

describe('readGgufHeader', () => {
  it('reads metadata and tensor infos', () => {
    const { version, metadata, tensors, dataOffset } = readGgufHeader(file(SAMPLE));
    expect(version).toBe(3);
    expect(metadata.get('general.architecture')).toBe('llama');
    expect(metadata.get('llama.block_count')).toBe(2);
    expect(metadata.get('llama.rope.freq_base')).toBe(10_000);
    expect(metadata.get('tokenizer.ggml.add_bos_token')).toBe(true);
    expect(metadata.get('tokenizer.ggml.tokens')).toEqual(['a', 'ä', '']);
    expect(metadata.get('tokenizer.ggml.token_type')).toEqual(Int32Array.of(1, 3, -1));
    expect(metadata.get('tokenizer.ggml.scores')).toEqual(Float32Array.of(0.5, -1, 0));
    expect(dataOffset).toBe(HEADER_BYTES);
    expect(tensors).toEqual([
      { name: 'token_embd.weight', shape: [4, 3], type: 0, offset: HEADER_BYTES },
      { name: 'output_norm.weight', shape: [4], type: 0, offset: HEADER_BYTES + 64 },
    ]);
  });

  it('names a file that is not there', () => {
    expect(codeOf(join(dir, 'absent.gguf'))).toBe('MODEL_NOT_FOUND');
  });

  it('says damaged wherever the header is cut off', () => {
    for (let length = 0; length < HEADER_BYTES; length++)
      expect(codeOf(file(SAMPLE.subarray(0, length))), `${length} bytes`).toBe('MODEL_CORRUPT');
  });

  it('says unsupported for another version and for the other byte order', () => {
    const versioned = (version: number) => {
      const out = Buffer.from(SAMPLE);
      out.writeUInt32LE(version, 4);
      return codeOf(file(out));
    };
    expect(versioned(1)).toBe('MODEL_UNSUPPORTED');
    expect(versioned(0x03000000)).toBe('MODEL_UNSUPPORTED');
    expect(versioned(2)).toBe('read');
  });

  it.each([
    ['tensors', (count: bigint) => withCount('GGUF', 4, count)],
    ['metadata entries', (count: bigint) => withCount('GGUF', 12, count)],
    ['elements of a string array', (count: bigint) => withCount('tokenizer.ggml.tokens', 8, count)],
    ['elements of a number array', (count: bigint) => withCount('tokenizer.ggml.scores', 8, count)],
    ['bytes of a string', (count: bigint) => withCount('general.architecture', 4, count)],
    ['extent of a tensor', (count: bigint) => withCount('token_embd.weight', 4, count)],
    ['offset of a tensor', (count: bigint) => withCount('output_norm.weight', 16, count)],
  ])('refuses a huge count of %s at once, without allocating for it', (_what, write) => {
    for (const count of [2n ** 64n - 1n, 2n ** 53n, 2n ** 40n, 2n ** 31n, BigInt(SAMPLE.length * 9)]) {
      const path = file(write(count));
      const before = process.memoryUsage();
      expect(codeOf(path)).toBe('MODEL_CORRUPT');
      const after = process.memoryUsage();
      expect(after.arrayBuffers - before.arrayBuffers).toBeLessThan(16 * 2 ** 20 + 4 * SAMPLE.length);
      expect(after.heapUsed - before.heapUsed).toBeLessThan(16 * 2 ** 20 + 4 * SAMPLE.length);
    }
  });

  it('believes no count because the file is large: nothing but holes', () => {
    const path = file(withCount('tokenizer.ggml.tokens', 8, 2n ** 30n));
    truncateSync(path, 2 ** 33);
    const before = process.memoryUsage().rss;
    expect(codeOf(path)).toBe('MODEL_CORRUPT');
    expect(process.memoryUsage().rss - before).toBeLessThan(512 * 2 ** 20);
  });

  it('refuses nested arrays, unknown types, doubled keys and doubled tensors', () => {
    const patched = (after: string, skip: number, type: number) => {
      const out = Buffer.from(SAMPLE);
      out.writeUInt32LE(type, out.indexOf(after) + after.length + skip);
      return codeOf(file(out));
    };
    expect(patched('tokenizer.ggml.tokens', 4, 9)).toBe('MODEL_CORRUPT');
    expect(patched('tokenizer.ggml.tokens', 4, 77)).toBe('MODEL_CORRUPT');
    expect(patched('llama.block_count', 0, 13)).toBe('MODEL_CORRUPT');
    const tensor = { name: 'x', shape: [1], type: 0, data: new Uint8Array(4) };
    expect(codeOf(file(writeGguf({ metadata: {}, tensors: [tensor, tensor] })))).toBe('MODEL_CORRUPT');
    const twice = Buffer.from(SAMPLE);
    twice.write('tokenizer.ggml.tokens', twice.indexOf('tokenizer.ggml.scores'));
    expect(codeOf(file(twice))).toBe('MODEL_CORRUPT');
  });

  it('ends with a header or a named error for any damage', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ at: fc.nat(HEADER_BYTES - 1), byte: fc.nat(255) }), { minLength: 1, maxLength: 6 }),
        fc.nat(SAMPLE.length),
        (damage, length) => {
          const out = Buffer.from(SAMPLE);
          for (const { at, byte } of damage) out[at] = byte;
          expect(['read', 'MODEL_CORRUPT', 'MODEL_UNSUPPORTED']).toContain(codeOf(file(out.subarray(0, length))));
        },
      ),
      { numRuns: 500 },
    );
  });
});

describeShared("readGgufHeader on files of llama.cpp's form", (shared) => {
  it.each(['llama', 'llama3', 'qwen2', 'qwen3', 'lfm2', 'lfm2_moe'])('%s', (model) => {
    const { metadata, tensors } = readGgufHeader(join(shared, 'golden', model, 'model.f32.gguf'));
    expect(metadata.get('general.architecture')).toMatch(/^(llama|qwen[23]|lfm2(moe)?)$/);
    expect(metadata.get('tokenizer.ggml.tokens')).toHaveLength(320);
    expect(tensors.find(({ name }) => name === 'token_embd.weight')?.shape).toEqual([64, 320]);
  });
});
