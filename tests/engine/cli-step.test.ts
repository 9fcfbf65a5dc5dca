/** `engine step` with "train":"all": what it writes can be served. */
import { cpSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { checkCommand } from '../../main/engine/cli-check.js';
import { stepCommand } from '../../main/engine/cli-step.js';
import { openCodec } from '../../main/engine/open-codec.js';
import { demoModelDir } from '../../main/services/paths.js';
import { scratchDir, tinyModel } from '../native/support.js';

const scratch = scratchDir();
const batch = join(scratch, 'batch.json');
writeFileSync(
  batch,
  JSON.stringify({
    samples: [{ input_ids: [5, 6, 7, 8], weights: [0, 1, 1, 1] }],
    loss: 'sft',
    train: 'all',
    lr: 0.001,
  }),
);

function io() {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const said: Buffer[] = [];
  stderr.on('data', (chunk: Buffer) => said.push(chunk));
  stdout.resume();
  const streams = { stdin, stdout, stderr, interactive: false, signal: new AbortController().signal };
  return { streams, said: () => Buffer.concat(said).toString('utf8') };
}

it('brings its tokenizer and chat template', async () => {
  const output = join(scratch, 'trained');
  const { streams, said } = io();
  expect(await stepCommand({ model: demoModelDir(), batch, output }, streams)).toBe(0);
  expect(said()).toBe('');
  const wanted = ['tokenizer.json', 'tokenizer_config.json', 'chat_template.jinja', 'generation_config.json'];
  expect(readdirSync(output)).toEqual(expect.arrayContaining(['config.json', 'model.safetensors', ...wanted]));
  const prompt = [{ role: 'user' as const, content: 'Go' }];
  expect(openCodec(output).codec.encodePrompt(prompt, [])).toEqual(
    openCodec(demoModelDir()).codec.encodePrompt(prompt, []),
  );
  expect(await checkCommand({ model: output }, io().streams)).toBe(0);
});

it('says when there is none to bring, and keeps one that is there', async () => {
  const [model, output] = [join(scratch, 'bare'), join(scratch, 'bare-trained')];
  await tinyModel().save(model);
  await tinyModel().save(output);
  cpSync(join(demoModelDir(), 'tokenizer.json'), join(output, 'tokenizer.json'));
  const { streams, said } = io();
  expect(await stepCommand({ model, batch, output }, streams)).toBe(0);
  expect(said()).toContain(`${model} has no tokenizer.json`);
  expect(readdirSync(output).sort()).toEqual(['config.json', 'model.safetensors', 'tokenizer.json']);
});
