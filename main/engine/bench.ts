/** How fast a loaded model reads prompts, decodes and trains: each measured for about a second, the best run counts. */
import type { NativeAdapter, NativeModel } from '../../native/addon.js';

const BUDGET_MS = 1000;
const PROMPT_TOKENS = 512;
const DECODE_CONTEXT = 64;
const DECODE_STEPS = 32;
const STEP_ROWS = 2;
const STEP_ROW_TOKENS = 256;
/** The first quarter of a row is prompt. */
const TRAINED_FROM = 0.25;

export interface Rate {
  tokensPerSecond: number;
}
export interface BenchResult {
  /** Tokens of the prompt. */
  prefill: Rate & { tokens: number };
  decode: (Rate & { sequences: number })[];
  /** A whole step of an adapter: forward, backward, update. */
  loraStep: Rate & { rank: number; tokens: number };
}
type Work = () => Promise<{ tokens: number; ms: number }>;

/** Repeatable tokens without structure; a row depends on `seed` from its first token on. */
function randomTokens(n: number, seed: number, vocab: number): Int32Array {
  let state = (Math.imul(seed + 1, 2654435761) + 1) >>> 0;
  return Int32Array.from({ length: n }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state >>> 8) % vocab;
  });
}

/** Repeats `work` until the budget is spent or `signal` aborts; the best of its runs. */
async function best(work: Work, signal: AbortSignal): Promise<number> {
  let most = 0;
  let spent = 0;
  do {
    const { tokens, ms } = await work();
    most = Math.max(most, (tokens / ms) * 1000);
    spent += ms;
  } while (spent < BUDGET_MS && !signal.aborted);
  return most;
}

async function timed(tokens: number, work: () => Promise<unknown>): Promise<{ tokens: number; ms: number }> {
  const started = performance.now();
  await work();
  return { tokens, ms: performance.now() - started };
}

/** `report` says what is measured next. After an abort the figures are not whole. */
export async function benchModel(
  model: NativeModel,
  adapter: NativeAdapter | null,
  signal: AbortSignal,
  report: (what: string) => void,
): Promise<BenchResult> {
  const { contextLength, vocabSize } = model.info;
  const tokens = Math.min(PROMPT_TOKENS, contextLength - 1);
  report(`reading prompts of ${tokens} tokens`);
  const prefill = await best(() => readPrompt(model, adapter, randomTokens(tokens, 0, vocabSize)), signal);
  const decode: BenchResult['decode'] = [];
  for (const sequences of [1, 8]) {
    if (signal.aborted) break;
    report(`decoding ${sequences === 1 ? 'one sequence' : `${sequences} sequences`}`);
    decode.push({ sequences, tokensPerSecond: await best(() => decodeSome(model, adapter, sequences), signal) });
  }
  const loraStep = { rank: adapter?.rank ?? Math.min(32, model.info.hiddenSize), tokens: 0, tokensPerSecond: 0 };
  if (!signal.aborted) {
    report('training steps');
    Object.assign(loraStep, await trainSome(model, adapter, loraStep.rank, signal));
  }
  return { prefill: { tokens, tokensPerSecond: prefill }, decode, loraStep };
}

async function readPrompt(model: NativeModel, adapter: NativeAdapter | null, ids: Int32Array) {
  const sequence = model.newSequence(adapter);
  const run = await timed(ids.length, () => model.decode([{ sequence, ids, sample: { temperature: 0, seed: 0 } }]));
  sequence.free();
  return run;
}

async function decodeSome(model: NativeModel, adapter: NativeAdapter | null, count: number) {
  const { contextLength, vocabSize } = model.info;
  const prompt = Math.min(DECODE_CONTEXT, contextLength >> 1);
  const steps = Math.min(DECODE_STEPS, contextLength - prompt - 1);
  const sample = { temperature: 0.8, seed: 1 };
  const items = Array.from({ length: count }, (_, i) => ({
    sequence: model.newSequence(adapter),
    ids: randomTokens(prompt, i, vocabSize),
    sample,
  }));
  const step = async () => {
    const answers = await model.decode(items);
    answers.forEach(({ token }, i) => {
      items[i]!.ids = Int32Array.of(token);
    });
  };
  await step();
  const run = await timed(count * steps, async () => {
    for (let s = 0; s < steps; s++) await step();
  });
  for (const { sequence } of items) sequence.free();
  return run;
}

/** Log-probabilities are those of the model itself, so that no token is clipped away and every one costs what it does in a run. */
async function trainSome(model: NativeModel, adapter: NativeAdapter | null, rank: number, signal: AbortSignal) {
  const trained = adapter?.clone() ?? model.createAdapter({ rank, alpha: 2 * rank, seed: 1 });
  const length = Math.min(STEP_ROW_TOKENS, model.info.contextLength);
  const rows = Array.from({ length: STEP_ROWS }, (_, i) => randomTokens(length, i, model.info.vocabSize));
  const logprobs = await model.logprobs(rows, trained);
  const samples = rows.map((inputIds, i) => ({
    inputIds,
    completionMask: Uint8Array.from({ length }, (_, t) => (t >= length * TRAINED_FROM ? 1 : 0)),
    oldLogprobs: logprobs[i]!,
    advantage: i % 2 === 0 ? 1 : -1,
  }));
  const trainer = model.newTrainer(trained, {});
  const tokens = STEP_ROWS * length;
  const tokensPerSecond = await best(() => timed(tokens, () => trainer.step(samples, { loss: 'dapo' }, 0)), signal);
  trainer.free();
  trained.free();
  return { tokens, tokensPerSecond };
}
