/** `tackroom engine bench`: how fast the native engine alone is with one model on this machine. */
import { type CpuFeatures, loadAddon, type ModelInfo } from '../../native/addon.js';
import type { CommandIo } from '../cli/io.js';
import { wholeNumber } from '../cli/numbers.js';
import { Progress } from '../cli/progress.js';
import { bytesText, table } from '../cli/table.js';
import { type BenchResult, benchModel } from './bench.js';
import { type EngineOptions, openModel } from './cli-model.js';

const MOST_READ_BYTES = 256 * 2 ** 20;

export async function benchCommand(
  options: EngineOptions & { threads?: string; json?: boolean },
  io: CommandIo,
): Promise<number> {
  const threads = wholeNumber('--threads', options.threads ?? '0', 0, 256);
  const addon = loadAddon();
  const cpu = addon.cpuFeatures();
  const progress = new Progress(io);
  progress.status(`loading ${options.model}`);
  const started = performance.now();
  const { model, adapter } = await openModel(options, { threads });
  const loadMs = performance.now() - started;
  const result = await benchModel(model, adapter, io.signal, (what) => progress.status(what));
  const { info } = model;
  model.free();
  progress.clear();
  if (io.signal.aborted) {
    io.stderr.write('Stopped: no figures.\n');
    return 130;
  }
  // As much as a step reads, so that what fits into a cache is compared with the cache.
  const machineBytes = addon.readBandwidth(Math.min(info.stepBytes, MOST_READ_BYTES), { threads });
  const report = reportOf(options, info, cpu, threads || cpu.threads, loadMs, result, machineBytes);
  io.stdout.write(options.json ? `${JSON.stringify(report)}\n` : describe(report));
  return 0;
}

function reportOf(
  options: EngineOptions,
  info: ModelInfo,
  cpu: CpuFeatures,
  threads: number,
  loadMs: number,
  { prefill, decode, loraStep }: BenchResult,
  machineBytes: number,
) {
  const readBytes = info.stepBytes * decode[0]!.tokensPerSecond;
  const bodies = { fp32: cpu.kernels, bf16: cpu.bf16Body, int16: cpu.int16Body, int8: cpu.int8Body };
  return {
    model: options.model,
    adapter: options.adapter ?? null,
    architecture: info.architecture,
    parameters: info.parameters,
    quantisation: info.quantisation,
    bytes: info.bytes,
    precision: info.servingPrecision,
    training_precision: info.trainingPrecision,
    cpu: cpu.brand,
    kernels: cpu.kernels,
    products: bodies[info.servingPrecision],
    threads,
    load_seconds: round(loadMs / 1000),
    prefill: { tokens: prefill.tokens, tokens_per_second: round(prefill.tokensPerSecond) },
    decode: decode.map(({ sequences, tokensPerSecond }) => ({ sequences, tokens_per_second: round(tokensPerSecond) })),
    lora_step: {
      rank: loraStep.rank,
      tokens: loraStep.tokens,
      tokens_per_second: round(loraStep.tokensPerSecond),
    },
    weights_read: {
      bytes_per_second: Math.round(readBytes),
      machine_bytes_per_second: Math.round(machineBytes),
      share: Number((readBytes / machineBytes).toFixed(3)),
    },
  };
}

/** Three digits are more than a shared machine can repeat. */
const round = (value: number): number => Number(value.toPrecision(3));

function describe(report: ReturnType<typeof reportOf>): string {
  const speed = (n: number): string => `${n} tokens/s`;
  const { weights_read: read, lora_step: step, prefill } = report;
  return table(
    ['what', 'value'],
    [
      ['model', report.model],
      ['adapter', report.adapter],
      ['architecture', `${report.architecture}, ${report.parameters.toLocaleString('en')} parameters`],
      ['weights', `${report.quantisation}, ${bytesText(report.bytes)} in memory`],
      ['precision', `${report.precision} (training: ${report.training_precision})`],
      ['processor', `${report.cpu}: ${report.threads} threads, kernels ${report.kernels}, products ${report.products}`],
      ['loading', `${report.load_seconds} s`],
      [`prompt of ${prefill.tokens}`, speed(prefill.tokens_per_second)],
      ...report.decode.map(({ sequences, tokens_per_second }) => [
        sequences === 1 ? 'decoding, 1 sequence' : `decoding, ${sequences} sequences`,
        speed(tokens_per_second),
      ]),
      [`training, rank ${step.rank}`, speed(step.tokens_per_second)],
      [
        'weights read',
        `${bytesText(read.bytes_per_second)}/s at 1 sequence, ${Math.round(read.share * 100)} % of what this machine reads`,
      ],
    ],
  );
}
