/**
 * The engine process: the only one that loads the native addon. It serves, scores and trains with one copy of the
 * weights, and answers `EngineCalls` on a unix socket.
 *
 * Arguments: --model DIR --socket PATH --adapters DIR [--threads N]
 */
import { randomInt, randomUUID } from 'node:crypto';
import { basename } from 'node:path';
import { parseArgs } from 'node:util';
import { TackroomError, toErrorShape } from '../../contract/errors.js';
import { loadAddon, type NativeModel } from '../../native/addon.js';
import { type CallContext, serveRpc } from '../services/rpc.js';
import { onParentGone, reportFailure } from '../services/supervisor.js';
import { AdapterPool, BASE } from './adapter-pool.js';
import type { Codec } from './codec.js';
import { openCodec } from './open-codec.js';
import type { ChatDelta, ChatParams, ChatResult, EngineCalls, EngineStatus } from './protocol.js';
import { Scheduler } from './scheduler.js';
import { StreamText } from './stream-text.js';
import { TrainerSession } from './trainer-session.js';

const CACHE_TOKENS = 60_000;

interface Engine {
  model: NativeModel;
  codec: Codec;
  pool: AdapterPool;
  scheduler: Scheduler;
}

async function chat(engine: Engine, params: ChatParams, context: CallContext): Promise<ChatResult> {
  const started = performance.now();
  const adapter = await engine.pool.get(params.adapter);
  const promptIds = engine.codec.encodePrompt(params.messages, params.tools ?? []);
  const { sampling } = params;
  const stream = new StreamText(engine.codec.callOpener);
  const result = await engine.scheduler.generate(Int32Array.from(promptIds), {
    adapterKey: params.adapter ?? BASE,
    adapter,
    sample: {
      temperature: sampling.temperature,
      topP: sampling.topP,
      topK: sampling.topK,
      minP: sampling.minP,
      repetitionPenalty: sampling.repetitionPenalty,
      seed: sampling.seed ?? randomInt(2 ** 47),
    },
    maxTokens: sampling.maxTokens ?? 512,
    endIds: engine.codec.endIds,
    onToken: (ids) => {
      const text = stream.push(engine.codec.decode(ids));
      if (text) context.emit({ text } satisfies ChatDelta);
    },
    signal: context.signal,
  });
  const ids = result.finish === 'stop' ? result.completionIds.slice(0, -1) : result.completionIds;
  const answer = engine.codec.parse(engine.codec.decode(ids));
  const rest = stream.finish(answer.content);
  if (rest) context.emit({ text: rest } satisfies ChatDelta);
  const cut = result.finish === 'length';
  return {
    content: answer.content,
    toolCalls: answer.toolCalls.map((call) => ({
      id: `call_${randomUUID().replaceAll('-', '').slice(0, 20)}`,
      ...call,
    })),
    finish: answer.toolCalls.length > 0 ? 'tool_calls' : cut ? 'length' : 'stop',
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
    },
  });
  const { model: modelDir, socket, adapters } = values;
  if (!modelDir || !socket || !adapters)
    throw new TackroomError('BAD_ARGUMENT', 'The engine needs --model, --socket and --adapters.');
  const addon = loadAddon();
  const cpu = addon.cpuFeatures();
  const codec = openCodec(modelDir);
  const model = await addon.loadModel(modelDir, { threads: Number(values.threads) });
  codec.check(model.info.vocabSize);
  const pool = new AdapterPool(model, adapters);
  const scheduler = new Scheduler(model, CACHE_TOKENS);
  const engine: Engine = { model, codec: codec.codec, pool, scheduler };
  let trainer: TrainerSession | undefined;
  let training = false;
  const needTrainer = (): TrainerSession => {
    if (!trainer)
      throw new TackroomError(
        'SERVICE_GONE',
        'No training is open in this engine: it was started again.',
        'The run goes on from its last checkpoint.',
      );
    return trainer;
  };

  const status = (): EngineStatus => ({
    model: {
      id: basename(modelDir),
      dir: modelDir,
      architecture: model.info.architecture,
      parameters: model.info.parameters,
      contextLength: model.info.contextLength,
      bytes: model.info.bytes,
    },
    adapters: pool.hashes,
    running: scheduler.running,
    queued: scheduler.queued,
    training,
    tokensPerSecond: scheduler.tokensPerSecond,
    kernels: cpu.kernels,
    threads: cpu.threads,
    pid: process.pid,
    rssBytes: process.memoryUsage.rss(),
  });

  type Implementation = {
    [M in keyof EngineCalls]: (
      params: EngineCalls[M]['params'],
      context: CallContext,
    ) => Promise<EngineCalls[M]['result']> | EngineCalls[M]['result'];
  };
  const handlers: Implementation = {
    status,
    chat: (params, context) => chat(engine, params, context),
    async 'adapter.load'({ dir }) {
      const adapter = await pool.load(dir);
      return { hash: adapter.hash(), rank: adapter.rank, alpha: adapter.alpha };
    },
    'adapter.drop'({ hash }) {
      pool.drop(hash);
      scheduler.dropAdapter(hash);
      return null;
    },
    async 'train.open'(params) {
      trainer?.close();
      trainer = await TrainerSession.open(model, pool, (hash) => scheduler.dropAdapter(hash), params);
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
}

main().catch((error: unknown) => reportFailure(toErrorShape(error)));
