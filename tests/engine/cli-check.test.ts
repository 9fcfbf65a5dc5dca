/** `engine check` and `engine bench` on models that are whole, damaged, or somebody else's. */
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import type { Check } from '../../main/cli/doctor/check.js';
import type { CommandIo } from '../../main/cli/io.js';
import { benchCommand } from '../../main/engine/cli-bench.js';
import { checkCommand } from '../../main/engine/cli-check.js';
import { batchGap, firstStep, firstStepKl, sampleText, samplingGap } from '../../main/engine/model-checks.js';
import { demoModelDir } from '../../main/services/paths.js';
import { codeOf, scratchDir, tinyModel, tokens, trainedAdapter } from '../native/support.js';
import { describeShared } from '../support/shared.js';

const scratch = scratchDir();

function captured(signal = new AbortController().signal): { io: CommandIo; out(): string } {
  const [stdout, stderr, stdin] = [new PassThrough(), new PassThrough(), new PassThrough()];
  stderr.resume();
  const chunks: Buffer[] = [];
  stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  return {
    io: { stdin, stdout, stderr, interactive: false, signal },
    out: () => Buffer.concat(chunks).toString('utf8'),
  };
}

interface Report {
  precision: string | null;
  ok: boolean;
  checks: Check[];
}
async function check(model: string, more: { adapter?: string; precision?: string } = {}): Promise<Report> {
  const { io, out } = captured();
  const code = await checkCommand({ model, json: true, ...more }, io);
  const report = JSON.parse(out()) as Report;
  expect(code).toBe(report.ok ? 0 : 1);
  return report;
}
const statusOf = ({ checks }: Report): Record<string, string> =>
  Object.fromEntries(checks.map(({ id, status }) => [id, status]));
const detailOf = ({ checks }: Report, id: string): string => checks.find((one) => one.id === id)?.detail ?? '';

/** A copy of the built-in model that a test may damage. */
function demoCopy(name: string): string {
  const dir = join(scratch, name);
  cpSync(demoModelDir(), dir, { recursive: true });
  return dir;
}
const WHOLE = { model: 'ok', tokenizer: 'ok', template: 'ok', paths: 'ok', training: 'ok', batch: 'ok' };

describe('engine check', () => {
  it('passes the built-in model, with an adapter too', async () => {
    expect(statusOf(await check(demoModelDir()))).toEqual(WHOLE);
    const report = await check(demoModelDir(), { precision: 'fp32' });
    expect(report).toMatchObject({ precision: 'fp32', ok: true });
    expect(detailOf(report, 'paths')).toMatch(/^largest difference \d\.\de[+-]\d+ of 0\.00005 allowed$/);
  });

  it('prints numbered lines for people', async () => {
    const { io, out } = captured();
    expect(await checkCommand({ model: demoModelDir() }, io)).toBe(0);
    expect(out()).toMatch(/^ 1 {2}ok {4}Model files {2,}llama, 1,000,576 parameters/);
    expect(out().trimEnd().split('\n')).toHaveLength(6);
  });

  it('fails weights that are not numbers, and looks no further', async () => {
    const dir = demoCopy('nan');
    const file = join(dir, 'model.safetensors');
    const bytes = readFileSync(file);
    bytes.writeUInt16LE(0x7fc0, bytes.length - 2);
    writeFileSync(file, bytes);
    const report = await check(dir);
    expect(statusOf(report)).toEqual({ model: 'failed' });
    expect(detailOf(report, 'model')).toMatch(/holds values that are not numbers/);
    expect(report.precision).toBeNull();
  });

  it('fails a tokenizer that is missing or of another model; the numbers are checked all the same', async () => {
    const dir = join(scratch, 'tiny');
    await tinyModel().save(dir);
    expect(statusOf(await check(dir))).toEqual({
      model: 'ok',
      tokenizer: 'failed',
      paths: 'ok',
      training: 'ok',
      batch: 'ok',
    });
    cpSync(join(demoModelDir(), 'tokenizer.json'), join(dir, 'tokenizer.json'));
    const report = await check(dir);
    expect(statusOf(report).tokenizer).toBe('failed');
    expect(detailOf(report, 'tokenizer')).toMatch(/do not belong together/);
  });

  it('checks an adapter with the model, and refuses that of another', async () => {
    const dir = join(scratch, 'for-adapters');
    const model = tinyModel();
    await model.save(dir);
    const [mine, other] = [join(scratch, 'mine'), join(scratch, 'other')];
    await (await trainedAdapter(model, 3)).save(mine, 'tiny');
    await (await trainedAdapter(tinyModel({ hidden_size: 24 }), 3)).save(other, 'other');
    const good = statusOf(await check(dir, { adapter: mine }));
    expect(good).toMatchObject({ adapter: 'ok', paths: 'ok', training: 'ok', batch: 'ok' });
    const bad = statusOf(await check(dir, { adapter: other }));
    expect(bad.adapter).toBe('failed');
    expect(bad).not.toHaveProperty('paths');
  });

  it('says what a precision needs', async () => {
    expect(await codeOf(() => check(demoModelDir(), { precision: 'fp8' }))).toBe('BAD_ARGUMENT');
    const report = await check(demoModelDir(), { precision: 'int8' });
    expect(detailOf(report, 'model')).toMatch(/not quantised but BF16, .* use fp32, bf16, int16 or auto/);
    expect(report.checks[0]!.hint).not.toMatch(/architecture/);
  });

  it('sees log-probabilities that differ', async () => {
    const model = tinyModel();
    const text = await sampleText(model, null, tokens(12, 1));
    expect(await samplingGap(model, null, text)).toBeLessThan(5e-5);
    expect(await batchGap(model, null, text.ids, 'serving')).toBeLessThan(5e-5);
    const wrong = { ...text, logprobs: text.logprobs.map((x, i) => (i === 5 ? x + 0.01 : x)) };
    expect(await samplingGap(model, null, wrong)).toBeCloseTo(0.01, 4);
    expect(firstStep(await firstStepKl(model, null, text)).status).toBe('ok');
    expect(firstStep(await firstStepKl(model, null, wrong)).status).toBe('failed');
    const broken = { ...text, logprobs: text.logprobs.map(() => Number.NaN) };
    expect(await samplingGap(model, null, broken)).toBe(Number.POSITIVE_INFINITY);
  });
});

describe('engine bench', () => {
  it('measures prompts, answers and training', async () => {
    const { io, out } = captured();
    expect(await benchCommand({ model: demoModelDir(), threads: '1', json: true }, io)).toBe(0);
    const report = JSON.parse(out()) as Record<string, Record<string, number>> & {
      decode: { sequences: number; tokens_per_second: number }[];
    };
    expect(report).toMatchObject({ architecture: 'llama', precision: 'fp32', threads: 1, lora_step: { rank: 32 } });
    expect(report.decode.map(({ sequences }) => sequences)).toEqual([1, 8]);
    for (const rate of [report.prefill, report.lora_step, ...report.decode])
      expect(rate!.tokens_per_second).toBeGreaterThan(1);
    expect(report.weights_read!.share).toBeGreaterThan(0);
  });

  it('ends when it is interrupted, without figures', async () => {
    const { io, out } = captured(AbortSignal.abort());
    expect(await benchCommand({ model: demoModelDir() }, io)).toBe(130);
    expect(out()).toBe('');
  });
});

describeShared('engine check on golden models', (shared) => {
  it.each(['llama', 'llama3', 'qwen2', 'qwen3', 'lfm2', 'lfm2_moe', 'gemma3'])(
    '%s computes alike everywhere',
    async (name) => {
      const dir = join(shared, 'golden', name);
      const status = statusOf(await check(join(dir, 'hf'), { adapter: join(dir, 'adapter'), precision: 'fp32' }));
      expect(status).toMatchObject({ model: 'ok', adapter: 'ok', paths: 'ok', training: 'ok', batch: 'ok' });
    },
  );
});
