/** Builds and runs native/tests/files_test.cc, and looks at the same files through the addon. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { type PrecisionName, packageRoot } from '../../native/addon.js';
import { describeShared, sharedDir } from '../support/shared.js';
import { addon, codeOf, scratchDir, tinyModel } from './support.js';

const run = promisify(execFile);
const scratch = scratchDir();

it('packing changes no value, and GGUF files hold what the folders hold', { timeout: 600_000 }, async () => {
  const script = join(packageRoot(), 'scripts', 'build-native.mjs');
  await run(process.execPath, [script, '--tests', '--target', 'files_test']);
  const shared = sharedDir();
  const golden = shared === null ? [] : [join(shared, 'golden')];
  const { stdout } = await run(join(packageRoot(), 'build', 'native-files-test', 'files_test'), [scratch, ...golden]);
  const total = /^(\d+) checks, 0 failures$/m.exec(stdout);
  if (total === null) throw new Error(`no total in: ${stdout}`);
  expect(Number(total[1])).toBeGreaterThan(golden.length === 0 ? 2500 : 3700);
});

it('a saved model is described without being loaded', async () => {
  const dir = join(scratch, 'saved');
  const model = tinyModel();
  await model.save(dir, 'BF16');
  const summary = addon.inspectModel(dir);
  expect(summary).toMatchObject({
    format: 'safetensors',
    architecture: 'llama',
    layers: 2,
    hiddenSize: 20,
    headDim: 6,
    ffnSize: 27,
    experts: 0,
    tied: true,
    parameters: model.info.parameters,
  });
  expect(summary.types).toEqual({ BF16: { tensors: 20, bytes: 2 * model.info.parameters } });
  expect(summary.fileBytes).toBeGreaterThan(2 * model.info.parameters);
  expect(await codeOf(() => addon.inspectModel(join(scratch, 'nowhere')))).toBe('MODEL_NOT_FOUND');
});

it('a 16-bit folder too large to be held in fp32 gives in every precision what its weights give', {
  timeout: 120_000,
}, async () => {
  const dir = join(scratch, 'large-16-bit');
  await tinyModel({ vocab_size: 280_001, hidden_size: 120, intermediate_size: 200 }).save(dir, 'BF16');
  const ids = [Int32Array.from({ length: 12 }, (_, i) => 3 + 1009 * i)];
  const logprobs = async (precision: PrecisionName, trainable = false) => {
    const model = await addon.loadModel(dir, { precision, trainable, threads: 2 });
    const [values] = await model.logprobs(ids);
    model.free();
    return Array.from(values!);
  };
  const exact = await logprobs('fp32', true);
  const packed = await logprobs('fp32');
  for (const [i, value] of packed.entries()) expect(Math.abs(value - exact[i]!)).toBeLessThan(1e-4);
  const rounded = await logprobs('int16');
  for (const [i, value] of rounded.entries()) expect(Math.abs(value - exact[i]!)).toBeLessThan(0.05);
});

it('more queries for a key-value head than attention takes at once are refused', async () => {
  const heads = { num_key_value_heads: 1, head_dim: 2 };
  expect(tinyModel({ ...heads, num_attention_heads: 96 }).info.heads).toBe(96);
  const code = await codeOf(() => tinyModel({ ...heads, num_attention_heads: 97 }));
  expect(code).toBe('BAD_ARGUMENT');
});

describeShared('golden files are described', (shared) => {
  const golden = join(shared, 'golden');

  for (const model of ['llama', 'llama3', 'qwen2', 'qwen3', 'lfm2', 'lfm2_moe'])
    it(`${model}: the same for the folder and the GGUF file`, () => {
      const { format, types, fileBytes, ...folder } = addon.inspectModel(join(golden, model, 'hf'));
      const gguf = addon.inspectModel(join(golden, model, 'model.f32.gguf'));
      expect(gguf).toMatchObject(folder);
      expect([format, gguf.format]).toEqual(['safetensors', 'gguf']);
      expect(Object.keys(gguf.types)).toEqual(['F32']);
      expect(types.F32!.bytes).toBe(4 * folder.parameters);
      expect(fileBytes).toBeGreaterThan(4 * folder.parameters);
    });

  it('experts and mixed types', () => {
    expect(addon.inspectModel(join(golden, 'lfm2_moe', 'hf'))).toMatchObject({ experts: 8, expertsPerToken: 2 });
    const mixed = addon.inspectModel(join(golden, 'gguf_quant', 'llama_k.Q4_K_M.gguf'));
    expect(mixed.types.Q4_K!.tensors).toBe(5);
    expect(mixed.types.Q6_K!.tensors).toBe(3);
  });
});
