import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openCodec } from '../../main/engine/open-codec.js';
import { createDemoCodec } from '../../main/models/demo/codec.js';
import { demoModelDir } from '../../main/models/demo/complete-tokenizer.js';
import { writeGguf } from '../support/gguf-writer.js';
import { describeShared } from '../support/shared.js';

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'tackroom-codec-'));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const refuses = (path: string, code: string) =>
  expect(() => openCodec(path)).toThrow(expect.objectContaining({ code }));
const folder = (name: string, files: Record<string, string | Uint8Array>) => {
  const path = join(dir, name);
  mkdirSync(path, { recursive: true });
  for (const [file, content] of Object.entries(files)) writeFileSync(join(path, file), content);
  return path;
};
const USER = [{ role: 'user' as const, content: 'hi' }];

describe('openCodec', () => {
  it('knows the demo model by its tokenizer', () => {
    const { codec, check } = openCodec(demoModelDir());
    const demo = createDemoCodec(demoModelDir());
    expect(codec.encodePrompt(USER, [])).toEqual(demo.encodePrompt(USER, []));
    expect([...codec.endIds]).toEqual([...demo.endIds]);
    expect(() => check(5)).toThrow(expect.objectContaining({ code: 'TOKENIZER_MISMATCH' }));
  });

  it("gives the demo model's answers token by token as in one piece", () => {
    const { codec } = openCodec(demoModelDir());
    const text = 'Let me look.<tool_call>{"name":"bash","arguments":{"command":"ls"}}</tool_call>';
    const prompt = codec.encodePrompt([{ role: 'user', content: text }], []);
    const ids = prompt.slice(1, -2);
    expect(codec.decode(ids)).toBe(text);
    const stream = codec.openAnswer([], []);
    const deltas = [...ids.flatMap((id) => stream.push([id])), ...stream.finish()];
    expect(deltas.map((delta) => (delta.kind === 'text' ? delta.text : '')).join('')).toBe(codec.parse(text).content);
    expect(deltas.filter((delta) => delta.kind === 'tool_call_args')).toEqual([
      { kind: 'tool_call_args', text: '{"command":"ls"}' },
    ]);
  });

  it('names what is missing or damaged', () => {
    refuses(join(dir, 'absent'), 'MODEL_NOT_FOUND');
    refuses(folder('empty', {}), 'TOKENIZER_MISMATCH');
    refuses(folder('not-json', { 'tokenizer.json': '{' }), 'TOKENIZER_MISMATCH');
    refuses(folder('no-model', { 'tokenizer.json': '{}' }), 'TOKENIZER_MISMATCH');
    refuses(folder('no-gguf', { 'a.gguf': 'x' }), 'MODEL_CORRUPT');
    refuses(folder('two-ggufs', { 'a.gguf': 'x', 'b.gguf': 'x' }), 'TOKENIZER_MISMATCH');
  });

  it('refuses a template that does not compile and a pre-tokenizer it does not know', () => {
    const gguf = (extra: Record<string, string>) =>
      writeGguf({
        metadata: {
          'tokenizer.ggml.model': 'gpt2',
          'tokenizer.ggml.tokens': { strings: ['a', 'b', 'ab'] },
          'tokenizer.ggml.merges': { strings: ['a b'] },
          ...extra,
        },
      });
    refuses(folder('template', { 'm.gguf': gguf({ 'tokenizer.chat_template': '{% for %}' }) }), 'MODEL_UNSUPPORTED');
    refuses(folder('pre', { 'm.gguf': gguf({ 'tokenizer.ggml.pre': 'unheard-of' }) }), 'MODEL_UNSUPPORTED');
    const fine = join(folder('fine', { 'm.gguf': gguf({ 'tokenizer.ggml.pre': 'qwen2' }) }), 'm.gguf');
    expect(() => openCodec(fine).check(3)).not.toThrow();
    expect(() => openCodec(fine).check(2)).toThrow(expect.objectContaining({ code: 'TOKENIZER_MISMATCH' }));
  });
});

describeShared('openCodec on model folders', (shared) => {
  it.each(['llama', 'llama3', 'qwen2', 'qwen3', 'lfm2', 'lfm2_moe', 'gemma3'])(
    '%s: opens the Hugging Face folder',
    (model) => {
      const { codec, check } = openCodec(join(shared, 'golden', model, 'hf'));
      check(320);
      expect(codec.endIds).toContain(2);
      const ids = codec.encodePrompt(USER, []);
      expect(codec.decode(ids)).toBe('<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n');
      expect(ids.filter((id) => id <= 2)).toEqual([1, 2, 1]);
    },
  );

  it('opens a GGUF file, and a folder that holds it, alike', () => {
    const file = join(shared, 'golden', 'lfm2', 'model.f32.gguf');
    const path = folder('gguf', {});
    cpSync(file, join(path, 'model.gguf'));
    for (const where of [file, path]) {
      const { codec, check } = openCodec(where);
      check(320);
      expect(codec.decode(codec.encodePrompt(USER, []))).toBe(
        '<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n',
      );
    }
  });

  it('takes templates and ends from where a folder has them', () => {
    const hf = join(shared, 'golden', 'qwen3', 'hf');
    const files = (extra: Record<string, string>) =>
      folder('variants', { 'tokenizer.json': readFileSync(join(hf, 'tokenizer.json')), ...extra });
    const ends = files({
      'tokenizer_config.json': JSON.stringify({
        eos_token: { content: '<|im_end|>' },
        chat_template: [{ name: 'default', template: 'D' }],
      }),
      'generation_config.json': JSON.stringify({ eos_token_id: [2, 5] }),
    });
    const { codec } = openCodec(ends);
    expect([...codec.endIds].sort()).toEqual([0, 2, 5]);
    expect(codec.decode(codec.encodePrompt(USER, []))).toBe('D');
    expect(
      openCodec(files({ 'chat_template.jinja': 'J' })).codec.decode(openCodec(ends).codec.encodePrompt(USER, [])),
    ).toBe('J');
  });
});
