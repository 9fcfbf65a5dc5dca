/** An engine process in miniature: the real socket protocol, answers by a script instead of a model. */
import { join } from 'node:path';
import { TackroomError } from '../../contract/errors.js';
import type { ChatParams, ChatResult } from '../../main/engine/protocol.js';
import { type CallContext, type RpcServer, serveRpc } from '../../main/services/rpc.js';

export interface Scripted {
  /** Pieces of text, sent one by one. */
  text?: string[];
  /** What it thinks before that. */
  reasoning?: string[];
  calls?: { name: string; arguments: string; id?: string }[];
  finish?: ChatResult['finish'];
  promptIds?: number[];
  /** Milliseconds before each piece and before the end. */
  pauseMs?: number;
  error?: TackroomError;
  /** Drops all connections after the text, as a crash does. */
  dies?: boolean;
}

export interface FakeEngine {
  path: string;
  /** What it was asked, in order. */
  asked: ChatParams[];
  cancelled: number;
  /** Folders of the adapters it was told to load. */
  loaded: string[];
  /** Answers the next requests; the last one stays. */
  script(...answers: Scripted[]): void;
  close(): Promise<void>;
}

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    if (signal.aborted) return reject(new TackroomError('CANCELLED', 'cancelled'));
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(new TackroomError('CANCELLED', 'cancelled'));
    });
  });

/** Deterministic ids: one per word, so that a longer conversation extends the ids of a shorter one. */
export const idsOf = (params: Pick<ChatParams, 'messages'>): number[] =>
  params.messages.flatMap((message) => [...JSON.stringify(message)].map((letter) => letter.charCodeAt(0)));

export async function startFakeEngine(folder: string): Promise<FakeEngine> {
  const path = join(folder, 'engine.sock');
  let queue: Scripted[] = [{ text: ['Hello.'] }];
  let calls = 0;
  let server: RpcServer;
  const chat = async (params: ChatParams, context: CallContext): Promise<ChatResult> => {
    engine.asked.push(params);
    const scripted = queue.length > 1 ? queue.shift()! : queue[0]!;
    try {
      if (scripted.error) throw scripted.error;
      for (const reasoning of scripted.reasoning ?? []) context.emit({ text: '', reasoning });
      for (const text of scripted.text ?? []) {
        await pause(scripted.pauseMs ?? 0, context.signal);
        context.emit({ text });
      }
      if (scripted.dies) {
        await pause(20, context.signal);
        await server.close();
        return await new Promise(() => undefined);
      }
      await pause(scripted.pauseMs ?? 0, context.signal);
    } catch (error) {
      if (context.signal.aborted) engine.cancelled++;
      throw error;
    }
    const toolCalls = (scripted.calls ?? []).map((call) => ({
      id: call.id ?? `call_${calls++}`,
      name: call.name,
      arguments: call.arguments,
    }));
    return {
      content: (scripted.text ?? []).join(''),
      ...(scripted.reasoning && { reasoning: scripted.reasoning.join('') }),
      toolCalls,
      finish: scripted.finish ?? (toolCalls.length > 0 ? 'tool_calls' : 'stop'),
      promptIds: scripted.promptIds ?? idsOf(params),
      completionIds: [7, 8, 9],
      logprobs: [-0.5, -0.25, -0.125],
      adapterHash: params.adapter,
      cachedTokens: 2,
      firstTokenMs: 1,
      durationMs: 2,
    };
  };
  const engine: FakeEngine = {
    path,
    asked: [],
    cancelled: 0,
    loaded: [],
    script: (...answers) => {
      queue = answers;
    },
    close: () => server.close(),
  };
  const load = ({ dir }: { dir: string }): { hash: string; rank: number; alpha: number } => {
    engine.loaded.push(dir);
    return { hash: 'new', rank: 8, alpha: 16 };
  };
  const count = (params: Pick<ChatParams, 'messages'>): { tokens: number } => ({ tokens: idsOf(params).length });
  server = await serveRpc(path, {
    chat,
    count,
    status: () => ({ model: { id: 'demo', contextLength: 4096 } }),
    'adapter.load': load,
  });
  return engine;
}
