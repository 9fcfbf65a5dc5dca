import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  addon,
  codeOf,
  maxDiff,
  readSafetensors,
  scratchDir,
  tinyConfig,
  tinyModel,
  tokens,
  trainedAdapter,
} from './support.js';

const scratch = scratchDir();
const ids = [tokens(40, 1)];

/** A copy of a saved model whose files a test may damage. */
async function savedModel(name: string): Promise<string> {
  const dir = join(scratch, name);
  await tinyModel().save(dir);
  return dir;
}
const messageOf = (dir: string) =>
  addon.loadModel(dir).then(
    () => 'loaded',
    (error: Error) => error.message,
  );

describe('models', () => {
  for (const overrides of [{}, { tie_word_embeddings: false, attention_bias: true }, { model_type: 'qwen3' }])
    it(`a saved model is the model: ${JSON.stringify(overrides)}`, async () => {
      const dir = join(scratch, JSON.stringify(overrides).replace(/\W/g, '-'));
      const model = tinyModel(overrides);
      await model.save(dir);
      const again = await addon.loadModel(dir);
      expect(again.info).toEqual(model.info);
      expect(maxDiff((await again.logprobs(ids))[0]!, (await model.logprobs(ids))[0]!)).toBe(0);
      expect(readSafetensors(join(dir, 'model.safetensors')).has('lm_head.weight')).toBe(
        'tie_word_embeddings' in overrides,
      );
    });

  it('BF16 files hold the nearest bf16 values', async () => {
    const dir = join(scratch, 'bf16');
    const model = tinyModel();
    await model.save(dir, 'BF16');
    const again = await addon.loadModel(dir);
    await again.save(join(scratch, 'bf16-back'));
    await model.save(join(scratch, 'bf16-full'));
    const rounded = readSafetensors(join(scratch, 'bf16-back', 'model.safetensors'));
    for (const [name, { values }] of readSafetensors(join(scratch, 'bf16-full', 'model.safetensors')))
      values.forEach((x, i) => {
        if (Math.abs(rounded.get(name)!.values[i]! - x) > Math.abs(x) / 256) throw new Error(`${name}[${i}]`);
      });
    expect((JSON.parse(readFileSync(join(dir, 'config.json'), 'utf8')) as { dtype: string }).dtype).toBe('bfloat16');
  });

  it('refuses weights that are not numbers', async () => {
    const dir = await savedModel('nan');
    const file = join(dir, 'model.safetensors');
    const bytes = readFileSync(file);
    bytes.writeFloatLE(Number.NaN, bytes.length - 4);
    writeFileSync(file, bytes);
    expect(await messageOf(dir)).toMatch(/holds values that are not numbers/);
  });

  it('refuses a configuration with fewer layers than the weights', async () => {
    const dir = await savedModel('fewer-layers');
    const file = join(dir, 'config.json');
    const config = JSON.parse(readFileSync(file, 'utf8')) as { num_hidden_layers: number };
    writeFileSync(file, JSON.stringify({ ...config, num_hidden_layers: config.num_hidden_layers - 1 }));
    expect(await messageOf(dir)).toMatch(/hold a tensor model\.layers\.\d+.* does not provide for/);
  });

  it('saving keeps the other files of the folder and leaves no temporary ones', async () => {
    const dir = await savedModel('beside');
    writeFileSync(join(dir, 'tokenizer.json'), '{}');
    await tinyModel({}, { seed: 8 }).save(dir);
    expect(readdirSync(dir).sort()).toEqual(['config.json', 'model.safetensors', 'tokenizer.json']);
    expect(readdirSync(scratch).filter((name) => name.includes('.tmp-'))).toEqual([]);
    expect(await messageOf(dir)).toBe('loaded');
  });

  it('removes what killed saves of the same folder left, and nothing else', async () => {
    const dir = join(scratch, 'killed');
    const { pid: gone } = spawnSync('true');
    const others = [
      `killed.tmp-${process.pid}-900`,
      `killed.tmp-${gone}`,
      `killed.tmp-${gone}-x`,
      `killed-2.tmp-${gone}-0`,
    ];
    for (const name of [...others, `killed.tmp-${gone}-0`, `killed.tmp-${gone}-1.old`])
      mkdirSync(join(scratch, name, 'deep'), { recursive: true });
    await tinyModel().save(dir);
    await tinyModel().save(`${dir}/`);
    const left = () => readdirSync(scratch).filter((name) => name.startsWith('killed') && name !== 'killed');
    expect(left().sort()).toEqual([...others].sort());
    for (const name of left()) rmSync(join(scratch, name), { recursive: true });
    expect(readdirSync(dir).sort()).toEqual(['config.json', 'deep', 'model.safetensors']);
  });

  it('copies the files it is given into the new folder', async () => {
    const dir = join(scratch, 'with-tokenizer');
    const file = join(scratch, 'tokenizer.json');
    writeFileSync(file, '{"model":{}}');
    await tinyModel().save(dir, 'F32', [file]);
    expect(readFileSync(join(dir, 'tokenizer.json'), 'utf8')).toBe('{"model":{}}');
    expect(await codeOf(() => tinyModel().save(dir, 'F32', [join(scratch, 'nowhere')]))).toBe('IO');
    expect(readdirSync(dir).sort()).toEqual(['config.json', 'model.safetensors', 'tokenizer.json']);
  });

  it('is checked without being read: what loading would refuse is refused, other bytes are not looked at', async () => {
    const dir = await savedModel('checked');
    const file = join(dir, 'model.safetensors');
    const bytes = readFileSync(file);
    bytes.writeFloatLE(Number.NaN, bytes.length - 4);
    writeFileSync(file, bytes);
    addon.checkModel(dir);
    const config = JSON.parse(readFileSync(join(dir, 'config.json'), 'utf8')) as { intermediate_size: number };
    writeFileSync(join(dir, 'config.json'), JSON.stringify({ ...config, intermediate_size: 28 }));
    expect(() => addon.checkModel(dir)).toThrow(/shape \[27, 20\] where \[28, 20\] is expected/);
    expect(await messageOf(dir)).toMatch(/shape \[27, 20\] where \[28, 20\] is expected/);
  });

  it('sharded files are put together', async () => {
    const dir = await savedModel('sharded');
    const bytes = readFileSync(join(dir, 'model.safetensors'));
    const headerBytes = Number(bytes.readBigUInt64LE(0));
    const header = JSON.parse(bytes.toString('utf8', 8, 8 + headerBytes)) as Record<
      string,
      { data_offsets: [number, number] }
    >;
    const names = Object.keys(header).filter((name) => name !== '__metadata__');
    const map: Record<string, string> = {};
    for (const shard of [0, 1]) {
      const entries: Record<string, unknown> = {};
      const parts: Buffer[] = [];
      let offset = 0;
      for (const name of names.filter((_, i) => i % 2 === shard)) {
        const [begin, end] = header[name]!.data_offsets;
        parts.push(bytes.subarray(8 + headerBytes + begin, 8 + headerBytes + end));
        entries[name] = { ...header[name], data_offsets: [offset, offset + end - begin] };
        offset += end - begin;
        map[name] = `model-${shard}.safetensors`;
      }
      const text = Buffer.from(JSON.stringify(entries));
      const length = Buffer.alloc(8);
      length.writeBigUInt64LE(BigInt(text.length));
      writeFileSync(join(dir, `model-${shard}.safetensors`), Buffer.concat([length, text, ...parts]));
    }
    const expected = (await (await addon.loadModel(dir)).logprobs(ids))[0]!;
    writeFileSync(join(dir, 'model.safetensors.index.json'), JSON.stringify({ weight_map: map }));
    const moved = join(scratch, 'sharded-only');
    mkdirSync(moved);
    for (const name of ['config.json', 'model.safetensors.index.json', 'model-0.safetensors', 'model-1.safetensors'])
      writeFileSync(join(moved, name), readFileSync(join(dir, name)));
    expect(maxDiff((await (await addon.loadModel(moved)).logprobs(ids))[0]!, expected)).toBe(0);
  });
});

describe('damaged models say what is wrong', () => {
  it('truncated weights, wherever the cut is', async () => {
    const dir = await savedModel('cut');
    const file = join(dir, 'model.safetensors');
    const bytes = readFileSync(file);
    for (const [keep, says] of [
      [bytes.length - 1, 'truncated'],
      [bytes.length >> 1, 'truncated'],
      [200, 'ends inside its header'],
      [3, 'too short'],
      [0, 'too short'],
    ] as const) {
      writeFileSync(file, bytes.subarray(0, keep));
      const message = await messageOf(dir);
      expect(message).toContain('model.safetensors');
      expect(message).toContain(says);
      expect(await codeOf(() => addon.loadModel(dir))).toBe('MODEL_CORRUPT');
    }
  });

  it('a random header never crashes', async () => {
    const dir = await savedModel('noise');
    const file = join(dir, 'model.safetensors');
    const bytes = readFileSync(file);
    let state = 12345;
    for (let round = 0; round < 150; round++) {
      const copy = Buffer.from(bytes);
      for (let i = 0; i < 3; i++) {
        state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
        copy[state % 2400] = (state >>> 8) & 255;
      }
      writeFileSync(file, copy);
      const code = await codeOf(() => addon.loadModel(dir));
      expect(['no error', 'MODEL_CORRUPT']).toContain(code);
    }
  });

  it('missing tensors, other shapes, other types', async () => {
    const dir = await savedModel('shapes');
    const config = join(dir, 'config.json');
    const original = readFileSync(config, 'utf8');
    const change = (values: object) =>
      writeFileSync(config, JSON.stringify({ ...(JSON.parse(original) as object), ...values }));
    change({ num_hidden_layers: 3 });
    expect(await messageOf(dir)).toContain('has no tensor model.layers.2.');
    change({ intermediate_size: 28 });
    expect(await messageOf(dir)).toMatch(/shape \[27, 20\] where \[28, 20\] is expected/);
    change({ vocab_size: 2 ** 28 });
    expect(await codeOf(() => addon.loadModel(dir))).toBe('MODEL_CORRUPT');
    change({ hidden_size: -4 });
    expect(await messageOf(dir)).toContain('hidden_size');
    change({ num_key_value_heads: 3 });
    expect(await codeOf(() => addon.loadModel(dir))).toBe('MODEL_CORRUPT');
    change({ model_type: 'mamba' });
    expect(await codeOf(() => addon.loadModel(dir))).toBe('MODEL_UNSUPPORTED');
    expect(await messageOf(dir)).toContain('mamba');
    change({ rope_parameters: { rope_type: 'yarn' } });
    expect(await messageOf(dir)).toContain('yarn');
    change({ hidden_act: 'gelu' });
    expect(await codeOf(() => addon.loadModel(dir))).toBe('MODEL_UNSUPPORTED');
    writeFileSync(config, original.slice(0, 40));
    expect(await codeOf(() => addon.loadModel(dir))).toBe('MODEL_CORRUPT');
  });

  it('missing files', async () => {
    expect(await codeOf(() => addon.loadModel(join(scratch, 'nowhere')))).toBe('MODEL_NOT_FOUND');
    const empty = join(scratch, 'empty');
    mkdirSync(empty);
    expect(await codeOf(() => addon.loadModel(empty))).toBe('MODEL_NOT_FOUND');
    writeFileSync(join(empty, 'config.json'), JSON.stringify(tinyConfig));
    expect(await codeOf(() => addon.loadModel(empty))).toBe('MODEL_NOT_FOUND');
  });
});

describe('adapters', () => {
  it('a saved adapter is the adapter, and PEFT finds what it needs', async () => {
    const dir = join(scratch, 'adapter');
    const model = tinyModel();
    const adapter = await trainedAdapter(model, 4);
    await adapter.save(dir, 'org/base');
    const again = await model.loadAdapter(dir);
    expect(again.hash()).toBe(adapter.hash());
    expect([again.rank, again.alpha]).toEqual([3, 6]);
    const config = JSON.parse(readFileSync(join(dir, 'adapter_config.json'), 'utf8')) as Record<string, unknown>;
    expect(config).toMatchObject({
      peft_type: 'LORA',
      r: 3,
      lora_alpha: 6,
      task_type: 'CAUSAL_LM',
      base_model_name_or_path: 'org/base',
      bias: 'none',
    });
    expect(config.target_modules).toEqual([
      'down_proj',
      'gate_proj',
      'k_proj',
      'o_proj',
      'q_proj',
      'up_proj',
      'v_proj',
    ]);
    const tensors = readSafetensors(join(dir, 'adapter_model.safetensors'));
    expect(tensors.size).toBe(2 * 7 * 2);
    expect(tensors.get('base_model.model.model.layers.1.mlp.down_proj.lora_A.weight')!.shape).toEqual([3, 27]);
    expect(tensors.get('base_model.model.model.layers.1.mlp.down_proj.lora_B.weight')!.shape).toEqual([20, 3]);
  });

  it('rank-stabilised and partial adapters', async () => {
    const dir = join(scratch, 'partial');
    const model = tinyModel();
    const adapter = await trainedAdapter(model, 4);
    await adapter.save(dir, 'base');
    const file = join(dir, 'adapter_model.safetensors');
    const path = join(dir, 'adapter_config.json');
    const config = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>;
    // alpha / sqrt(r) = 6 / 3: the plain scale 2 comes from alpha = 2 sqrt 3.
    writeFileSync(path, JSON.stringify({ ...config, use_rslora: true, lora_alpha: 2 * Math.sqrt(3) }));
    const stabilised = await model.loadAdapter(dir);
    expect(maxDiff((await model.logprobs(ids, stabilised))[0]!, (await model.logprobs(ids, adapter))[0]!)).toBeLessThan(
      1e-5,
    );
    // Rename the tensors of one module away: what is left adapts fewer layers, a half pair is an error.
    const text = readFileSync(file);
    const other = Buffer.from(
      text.toString('latin1').replaceAll('layers.0.mlp.up_proj', 'layers.9.mlp.up_proj'),
      'latin1',
    );
    writeFileSync(file, other);
    expect(await codeOf(() => model.loadAdapter(dir))).toBe('ADAPTER_MISMATCH');
    writeFileSync(file, Buffer.from(text.toString('latin1').replace('up_proj.lora_A', 'up_proj.lora_X'), 'latin1'));
    expect(await codeOf(() => model.loadAdapter(dir))).toBe('ADAPTER_CORRUPT');
    writeFileSync(file, text.subarray(0, text.length - 8));
    expect(await codeOf(() => model.loadAdapter(dir))).toBe('ADAPTER_CORRUPT');
    writeFileSync(file, text);
    writeFileSync(path, JSON.stringify({ ...config, use_dora: true }));
    expect(await codeOf(() => model.loadAdapter(dir))).toBe('ADAPTER_MISMATCH');
    writeFileSync(path, '{"peft_type":');
    expect(await codeOf(() => model.loadAdapter(dir))).toBe('ADAPTER_CORRUPT');
  });

  it('a copy is equal and then its own', async () => {
    const model = tinyModel();
    const adapter = await trainedAdapter(model, 4);
    const copy = adapter.clone();
    expect(copy.hash()).toBe(adapter.hash());
    await model
      .newTrainer(adapter)
      .step([{ inputIds: ids[0]!, weights: new Float32Array(40).fill(1) }], { loss: 'sft' }, 0.01);
    expect(copy.hash()).not.toBe(adapter.hash());
  });
});
