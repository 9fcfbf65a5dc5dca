/** The engine process as the proxy sees it. */
import { TackroomError } from '../../contract/errors.js';
import type { ChatDelta, ChatParams, ChatResult, EngineStatus } from '../engine/protocol.js';
import type { RpcClient } from '../services/rpc.js';
import type { Engine, EngineCallOptions } from './services.js';

const STATUS_TIMEOUT_MS = 5_000;
const COUNT_TIMEOUT_MS = 30_000;
const LOAD_TIMEOUT_MS = 60_000;

export class EngineClient implements Engine {
  /** `adapterDir` finds the folder of an adapter by its hash: an engine that was started again has forgotten it. */
  constructor(
    private readonly rpc: RpcClient,
    private readonly adapterDir: (hash: string) => string | undefined,
  ) {}

  async chat(params: ChatParams, options: EngineCallOptions): Promise<ChatResult> {
    try {
      return await this.#chat(params, options);
    } catch (error) {
      const dir =
        params.adapter !== null && error instanceof TackroomError && error.code === 'NOT_FOUND'
          ? this.adapterDir(params.adapter)
          : undefined;
      if (dir === undefined) throw error;
      await this.rpc.call('adapter.load', { dir }, { timeoutMs: LOAD_TIMEOUT_MS, signal: options.signal });
      return this.#chat(params, options);
    }
  }

  async count(params: Pick<ChatParams, 'messages' | 'tools'>): Promise<number> {
    const { tokens } = await this.rpc.call<{ tokens: number }>('count', params, { timeoutMs: COUNT_TIMEOUT_MS });
    return tokens;
  }

  async model(): Promise<{ id: string; contextLength: number }> {
    const { model } = await this.rpc.call<EngineStatus>('status', {}, { timeoutMs: STATUS_TIMEOUT_MS });
    return { id: model.id, contextLength: model.contextLength };
  }

  #chat(params: ChatParams, { signal, timeoutMs, onDelta }: EngineCallOptions): Promise<ChatResult> {
    return this.rpc.call<ChatResult>('chat', params, {
      signal,
      timeoutMs,
      onEvent: (event) => onDelta(event as ChatDelta),
    });
  }
}
