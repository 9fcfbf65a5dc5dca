/**
 * The engine process: the only one that loads the native addon. It serves, scores and trains with one copy of the
 * weights, and answers `EngineCalls` on a unix socket.
 *
 * Arguments: --model DIR --socket PATH --adapters DIR [--threads N] [--kv-bytes N]
 */
import { randomUUID } from 'node:crypto';
import { basename } from 'node:path';
import { parseArgs } from 'node:util';
import { TackroomError, toErrorShape } from '../../contract/errors.js';
import { loadAddon } from '../../native/addon.js';
import { checkFits, freeMemory } from '../models/memory.js';
import { type CallContext, serveRpc } from '../services/rpc.js';
import { onParentGone, reportFailure } from '../services/supervisor.js';
import { AdapterPool, BASE } from './adapter-pool.js';
import type { Codec } from './codec.js';
import { Constraints } from './constrain/constraints.js';
import type { Generation } from './job.js';
import { DEFAULT_LIMITS, defaultKvBytes, sequenceBytes } from './limits.js';
import { openCodec } from './open-codec.js';
import type { Delta } from './parsers/answer-parser.js';
import { AnswerCollector } from './parsers/parse-answer.js';
import { measurePrecisionGap, type PrecisionGap } from './precision-gap.js';
import type { ChatDelta, ChatParams, ChatResult, EngineCalls, EngineStatus } from './protocol.js';
import { DEFAULT_MAX_TOKENS, sampleOptions } from './sampling.js';
import { Scheduler } from './scheduler.js';
import { StopStrings } from './stop-strings.js';
import { TrainerSession } from './trainer-session.js';

interface Engine {
  contextLength: number;
  codec: Codec;
  pool: AdapterPool;
  scheduler: Scheduler;
  constraints: Constraints;
}

/** Tells the caller what is decided of an answer, and keeps it. */
class EmittedAnswer {
  readonly #collector = new AnswerCollector();
  readonly calls: ChatResult['toolCalls'] = [];
  constructor(private readonly emit: (delta: ChatDelta) => void) {}

  get content(): string {
    return this.#collector.content;
  }

  get reasoning(): string {
    return this.#collector.reasoning;
  }

  add(deltas: readonly Delta[]): void {
    this.#collector.add(deltas);
    const text = deltas.flatMap((delta) => (delta.kind === 'text' ? [delta.text] : [])).join('');
    const reasoning = deltas.flatMap((delta) => (delta.kind === 'reasoning' ? [delta.text] : [])).join('');
    const toolCalls = this.#collector.toolCalls.slice(this.calls.length).map((call) => ({
      id: `call_${randomUUID().replaceAll('-', '').slice(0, 20)}`,
      ...call,
    }));
    this.calls.push(...toolCalls);
    if (text !== '' || reasoning !== '' || toolCalls.length > 0)
      this.emit({ text, ...(reasoning !== '' && { reasoning }), ...(toolCalls.length > 0 && { toolCalls }) });
  }
}

/** Text that no tokenizer could press into the context is refused before it keeps the process busy. */
function checkLength({ messages }: Pick<ChatParams, 'messages'>, contextLength: number): void {
  const MOST_CHARACTERS_PER_TOKEN = 128;
  let characters = 0;
  for (const { content } of messages)
    if (typeof content === 'string') characters += content.length;
    else for (const part of content ?? []) characters += part.text?.length ?? 0;
  if (characters > contextLength * MOST_CHARACTERS_PER_TOKEN)
    throw new TackroomError(
      'CONTEXT_FULL',
      `The prompt has ${characters} characters; this model holds ${contextLength} tokens.`,
      'Shorten the conversation or use a model with a longer context.',
    );
}

async function chat(engine: Engine, params: ChatParams, context: CallContext): Promise<ChatResult> {
  const started = performance.now();
  const sample = sampleOptions(params.sampling);
  const stops = new StopStrings(params.stop ?? []);
  const constraint = await engine.constraints.of(params);
  checkLength(params, engine.contextLength);
  const promptIds = engine.codec.encodePrompt(params.messages, params.tools ?? []);
  const answer = new EmittedAnswer((delta) => context.emit(delta));
  const stream = engine.codec.openAnswer(promptIds, params.tools ?? [], stops);
  let read = 0;
  const take = (ids: readonly number[]): boolean => {
    answer.add(stream.push(ids.slice(read)));
    read = ids.length;
    return stops.stopped;
  };
  const lease = await engine.pool.acquire(params.adapter);
  let result: Generation;
  try {
    result = await engine.scheduler.generate(Int32Array.from(promptIds), {
      adapterKey: params.adapter ?? BASE,
      adapter: lease.adapter,
      sample,
      maxTokens: params.sampling.maxTokens ?? DEFAULT_MAX_TOKENS,
      endIds: engine.codec.endIds,
      maxPromptTokens: params.maxPromptTokens,
      priority: params.priority,
      path: params.path ?? (params.priority === 'rollout' ? 'training' : 'serving'),
      constraint,
      onToken: take,
      signal: context.signal,
    });
  } finally {
    lease.release();
  }
  take(result.finish === 'stop' ? result.completionIds.slice(0, -1) : result.completionIds);
  answer.add(stream.finish());
  return {
    content: answer.content,
    ...(answer.reasoning !== '' && { reasoning: answer.reasoning }),
    toolCalls: answer.calls,
    finish: answer.calls.length > 0 ? 'tool_calls' : result.finish === 'length' ? 'length' : 'stop',
    promptIds,
    completionIds: result.completionIds,
    logprobs: result.logprobs,
    adapterHash: params.adapter,
    cachedTokens: result.cachedTokens,
    firstTokenMs: result.firstTokenMs,
    durationMs: performance.now() - started,
  };
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      model: { type: 'string' },
      socket: { type: 'string' },
      adapters: { type: 'string' },
      threads: { type: 'string', default: '0' },
      'kv-bytes': { type: 'string' },
    },
  });
  const { model: modelDir, socket, adapters } = values;
  if (!modelDir || !socket || !adapters)
    throw new TackroomError('BAD_ARGUMENT', 'The engine needs --model, --socket and --adapters.');
  const addon = loadAddon();
  const cpu = addon.cpuFeatures();
  const codec = openCodec(modelDir);
  checkFits(modelDir);
  const model = await addon.loadModel(modelDir, { threads: Number(values.threads) });
  codec.check(model.info.vocabSize);
  const kvBytes =
    values['kv-bytes'] === undefined ? defaultKvBytes(model.info, freeMemory()) : Number(values['kv-bytes']);
  const leastBytes = sequenceBytes(1, model.info.kvBytesPerToken);
  if (!(kvBytes >= leastBytes))
    throw new TackroomError(
      'BAD_ARGUMENT',
      `A context memory of ${kvBytes} bytes holds not even a short prompt of this model.`,
      `Give at least ${Math.ceil(leastBytes / 2 ** 20)} MiB.`,
    );
  const scheduler = new Scheduler(model, { ...DEFAULT_LIMITS, kvBytes });
  const pool = new AdapterPool(model, adapters, (hash) => scheduler.dropAdapter(hash));
  const constraints = new Constraints(codec.codec, model.info.vocabSize);
  const engine: Engine = { contextLength: model.info.contextLength, codec: codec.codec, pool, scheduler, constraints };
  let trainer: TrainerSession | undefined;
  let training = false;
  let precisionGap: PrecisionGap | null = null;
  const needTrainer = (): TrainerSession => {
    if (!trainer)
      throw new TackroomError(
        'SERVICE_GONE',
        'No training is open in this engine: it was started again.',
        'The run goes on from its last checkpoint.',
      );
    return trainer;
  };

  const status = (): EngineStatus => {
    const { decodeTokensPerSecond, ...work } = scheduler.status();
    return {
      model: {
        id: basename(modelDir),
        dir: modelDir,
        architecture: model.info.architecture,
        parameters: model.info.parameters,
        contextLength: model.info.contextLength,
        bytes: model.info.bytes,
        quantisation: model.info.quantisation,
        precision: model.info.servingPrecision,
        trainingPrecision: model.info.trainingPrecision,
        precisionGap,
      },
      adapters: pool.hashes,
      adapterUse: pool.use(),
      running: work.decoding + work.prefilling,
      ...work,
      training,
      tokensPerSecond: decodeTokensPerSecond,
      kernels: cpu.kernels,
      threads: cpu.threads,
      pid: process.pid,
      rssBytes: process.memoryUsage.rss(),
    };
  };

  type Implementation = {
    [M in keyof EngineCalls]: (
      params: EngineCalls[M]['params'],
      context: CallContext,
    ) => Promise<EngineCalls[M]['result']> | EngineCalls[M]['result'];
  };
  const handlers: Implementation = {
    status,
    chat: (params, context) => chat(engine, params, context),
    count: (params) => {
      checkLength(params, engine.contextLength);
      return { tokens: engine.codec.encodePrompt(params.messages, params.tools ?? []).length };
    },
    'adapter.load': ({ dir }) => pool.load(dir),
    'adapter.drop'({ hash }) {
      pool.drop(hash);
      return null;
    },
    async 'train.open'(params) {
      trainer?.close();
      trainer = await TrainerSession.open(model, pool, params);
      return { hash: trainer.publish(), steps: trainer.steps };
    },
    async 'train.step'({ samples, loss, lr }) {
      training = true;
      try {
        return await needTrainer().step(samples, loss, lr);
      } finally {
        training = false;
      }
    },
    'train.save': ({ dir }) => needTrainer().save(dir, basename(modelDir)),
    'train.close'() {
      trainer?.close();
      trainer = undefined;
      return null;
    },
  };
  await serveRpc(socket, handlers as never);
  process.stdout.write(
    `${JSON.stringify({ ready: true, pid: process.pid, kernels: cpu.kernels, threads: cpu.threads })}\n`,
  );
  onParentGone(() => process.exit(0));
  precisionGap = await measurePrecisionGap(model, (content) =>
    codec.codec.encodePrompt([{ role: 'user', content }], []),
  );
}

main().catch((error: unknown) => reportFailure(toErrorShape(error)));
