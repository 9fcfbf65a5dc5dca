/** What `tackroom engine check` looks at in a loaded model: the tokenizer, and that every way to a log-probability agrees. */
import { TackroomError } from '../../contract/errors.js';
import type { ComputePath, NativeAdapter, NativeModel } from '../../native/addon.js';
import type { Check } from '../cli/doctor/check.js';
import { type OpenedCodec, openCodec } from './open-codec.js';
import { measurePrecisionGap, SAMPLE_TEXT } from './precision-gap.js';
import type { ChatMessage, ToolDefinition } from './protocol.js';

/** Of log-probabilities, nats: what fp32 may lose by another order of sums. */
export const TOLERANCE = 5e-5;
/** Of the mean that serving in 8 bits may cost (docs/engine.md). */
const MOST_GAP = 0.1;
/** Of mean(rho - 1 - log rho) at the first step, where rho is 1: what fp32 leaves of it. */
const MOST_KL = 1e-7;
const PROMPT_TOKENS = 64;
const SAMPLED_TOKENS = 32;

export type Finding = Pick<Check, 'status' | 'detail'> & { hint?: string };

/** Letters of one to four bytes, runs of spaces, digits, a line break. */
const ROUND_TRIP = `${SAMPLE_TEXT}\n\n\tнаука 中文 😀 naïve  12345   {"a": [1, 2.5e-3]}`;
const TOOL: ToolDefinition = {
  type: 'function',
  function: { name: 'bash', description: 'Runs a command', parameters: { type: 'object', properties: {} } },
};
const TOOL_TURNS: ChatMessage[] = [
  { role: 'user', content: 'List the files.' },
  {
    role: 'assistant',
    content: '',
    tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'bash', arguments: '{"command":"ls"}' } }],
  },
  { role: 'tool', tool_call_id: 'call_1', content: 'notes.txt' },
];

/** Opens the tokenizer and holds it against the model. Throws what openCodec and its check throw. */
export function checkTokenizer(path: string, vocabSize: number): [OpenedCodec, Finding] {
  const opened = openCodec(path);
  opened.check(vocabSize);
  const ids = opened.codec.encodePrompt([{ role: 'user', content: ROUND_TRIP }], []);
  const outside = ids.find((id) => id < 0 || id >= vocabSize);
  if (outside !== undefined)
    throw new TackroomError('TOKENIZER_MISMATCH', `The tokenizer makes the token ${outside} of ${vocabSize}.`);
  if (!opened.codec.decode(ids).includes(ROUND_TRIP))
    throw new TackroomError(
      'TOKENIZER_MISMATCH',
      'A text does not come back from its tokens as it was.',
      'Put the tokenizer files of this very model into its folder.',
    );
  const ends = opened.codec.endIds.size;
  const finding: Finding =
    ends > 0
      ? { status: 'ok', detail: `${ids.length} tokens come back as their text; ${ends} end an answer` }
      : { status: 'warning', detail: 'no token ends an answer', hint: 'Answers stop at their token limit only.' };
  return [opened, finding];
}

/** A conversation with a tool call through the template. */
export function checkTemplate({ codec, ownTemplate }: OpenedCodec): Finding {
  const ids = codec.encodePrompt(TOOL_TURNS, [TOOL]);
  const text = codec.decode(ids);
  for (const part of ['List the files.', 'bash', 'notes.txt'])
    if (!text.includes(part))
      return {
        status: 'warning',
        detail: `the chat template leaves out ${JSON.stringify(part)} of a conversation with a tool call`,
        hint: 'A coding agent needs a model whose template knows tools.',
      };
  if (ownTemplate) return { status: 'ok', detail: `a conversation with a tool call makes ${ids.length} tokens` };
  return {
    status: 'warning',
    detail: 'the model has none; a common one stands in',
    hint: 'A model that was trained for conversations brings a chat_template.',
  };
}

/** Ids to compute with: the sample text, or arbitrary ones where there is no tokenizer. */
export function sampleIds(model: NativeModel, opened: OpenedCodec | null): Int32Array {
  const { vocabSize, contextLength } = model.info;
  const ids =
    opened?.codec.encodePrompt([{ role: 'user', content: SAMPLE_TEXT }], []) ??
    Array.from({ length: PROMPT_TOKENS }, (_, i) => (i * 7919 + 13) % vocabSize);
  return Int32Array.from(ids.slice(0, Math.max(2, Math.min(PROMPT_TOKENS, contextLength - SAMPLED_TOKENS - 1))));
}

export interface SampledText {
  /** Prompt and what was sampled after it. */
  ids: Int32Array;
  /** Of the sampled tokens, at the end of `ids`. */
  logprobs: number[];
}

/** Samples as a rollout does: on the training path, token by token, at temperature 1. */
export async function sampleText(model: NativeModel, adapter: NativeAdapter | null, prompt: Int32Array) {
  const [sampled] = await decodeTogether(model, adapter, [prompt], 'training', { temperature: 1, seed: 1 });
  return {
    ids: Int32Array.from([...prompt, ...sampled!.map(({ token }) => token)]),
    logprobs: sampled!.map(({ logprob }) => logprob),
  };
}

async function decodeTogether(
  model: NativeModel,
  adapter: NativeAdapter | null,
  prompts: readonly Int32Array[],
  path: ComputePath,
  sample: { temperature: number; seed: number },
): Promise<{ token: number; logprob: number }[][]> {
  const { contextLength } = model.info;
  const steps = Math.min(SAMPLED_TOKENS, contextLength - Math.max(...prompts.map((ids) => ids.length)));
  const items = prompts.map((ids) => ({ sequence: model.newSequence(adapter, { path }), ids, sample }));
  const made = prompts.map((): { token: number; logprob: number }[] => []);
  for (let step = 0; step < steps; step++)
    (await model.decode(items)).forEach((answer, i) => {
      made[i]!.push(answer);
      items[i]!.ids = Int32Array.of(answer.token);
    });
  for (const { sequence } of items) sequence.free();
  return made;
}

/** What was sampled, scored by the training path: the largest difference. */
export async function samplingGap(
  model: NativeModel,
  adapter: NativeAdapter | null,
  { ids, logprobs }: SampledText,
): Promise<number> {
  const [scored] = await model.logprobs([ids], adapter);
  return largest(logprobs, scored!.subarray(ids.length - logprobs.length));
}

/** A first step of training on what was sampled: its importance ratios must be 1. Changes no weight. */
export async function firstStepKl(
  model: NativeModel,
  adapter: NativeAdapter | null,
  { ids, logprobs }: SampledText,
): Promise<number> {
  const trained = adapter?.clone() ?? model.createAdapter({ rank: 1, alpha: 1, seed: 1 });
  const trainer = model.newTrainer(trained, {});
  const first = ids.length - logprobs.length;
  const row = {
    inputIds: ids,
    completionMask: Uint8Array.from(ids, (_, t) => (t >= first ? 1 : 0)),
    oldLogprobs: Float32Array.from(ids, (_, t) => logprobs[t - first] ?? 0),
    advantage: 1,
  };
  const { kl } = await trainer.step([row], { loss: 'dapo' }, 0);
  trainer.free();
  trained.free();
  return kl;
}

/** Sequences of different lengths alone and together, scored and decoded: the largest difference. */
export async function batchGap(
  model: NativeModel,
  adapter: NativeAdapter | null,
  ids: Int32Array,
  path: ComputePath,
): Promise<number> {
  const rows = [ids, ids.subarray(0, Math.max(2, ids.length >> 1)), ids.slice().reverse()];
  const together = await model.logprobs(rows, adapter, 1, path);
  const decoded = await decodeTogether(model, adapter, rows, path, { temperature: 0, seed: 0 });
  let gap = 0;
  for (const [i, row] of rows.entries()) {
    const [alone] = await model.logprobs([row], adapter, 1, path);
    gap = Math.max(gap, largest(alone!, together[i]!));
    const [one] = await decodeTogether(model, adapter, [row], path, { temperature: 0, seed: 0 });
    // Another token is another text: nothing after it can be compared.
    const same = one!.every(({ token }, t) => token === decoded[i]![t]!.token);
    const of = (answers: readonly { logprob: number }[]): number[] => answers.map(({ logprob }) => logprob);
    gap = Math.max(gap, same ? largest(of(one!), of(decoded[i]!)) : Number.POSITIVE_INFINITY);
  }
  return gap;
}

/** Infinite when a value is not a number. */
function largest(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let most = 0;
  for (let i = 0; i < a.length; i++) {
    const gap = Math.abs(a[i]! - b[i]!);
    most = Math.max(most, Number.isNaN(gap) ? Number.POSITIVE_INFINITY : gap);
  }
  return most;
}

export function agreement(gap: number): Finding {
  return gap <= TOLERANCE
    ? { status: 'ok', detail: `largest difference ${gap.toExponential(1)} of ${TOLERANCE} allowed` }
    : {
        status: 'failed',
        detail: `differ by ${gap.toExponential(1)}, more than ${TOLERANCE}`,
        hint: 'Run `npm test`, and report this with the model and the processor.',
      };
}

export function firstStep(kl: number): Finding {
  return Math.abs(kl) <= MOST_KL
    ? { status: 'ok', detail: `importance ratios are 1 (KL ${kl.toExponential(1)})` }
    : { ...agreement(Number.POSITIVE_INFINITY), detail: `importance ratios are not 1 (KL ${kl.toExponential(1)})` };
}

/** How much more coarsely serving computes than training. */
export async function servingFinding(model: NativeModel, { codec }: OpenedCodec): Promise<Finding> {
  const gap = await measurePrecisionGap(model, (content) => codec.encodePrompt([{ role: 'user', content }], []));
  if (gap === null) return { status: 'ok', detail: 'computes as training does' };
  const detail = `${gap.mean.toFixed(3)} nats on average, ${gap.max.toFixed(2)} at most, over ${gap.tokens} tokens`;
  return gap.mean <= MOST_GAP
    ? { status: 'ok', detail }
    : { status: 'warning', detail, hint: 'Use --precision bf16, int16 or fp32, or a file of more bits.' };
}
