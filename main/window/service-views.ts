/** State of the engine and gateway processes as the window shows it. A silent process is `down` with the reason, not an error. */
import { toErrorShape } from '../../contract/errors.js';
import { type EngineView, type GatewayView, MAX_ADAPTER_USE } from '../../contract/views.js';
import type { EngineStatus } from '../engine/protocol.js';
import type { GatewayStatus } from '../proxy/protocol.js';
import { withDeadline } from './deadline.js';

const STATUS_DEADLINE_MS = 800;

/** The part of an RPC client that the window needs. */
export interface StatusSource {
  call<T>(method: string, params?: unknown, options?: { timeoutMs?: number }): Promise<T>;
  on(topic: string, listener: (data: unknown) => void): () => void;
}

export async function readEngine(source: StatusSource): Promise<EngineView> {
  try {
    const status = await withDeadline(STATUS_DEADLINE_MS, 'The engine', source.call<EngineStatus>('status'));
    const { dir: _dir, ...model } = status.model;
    const { limitBytes, runningBytes, cacheBytes } = status.kv;
    return {
      state: status.training ? 'training' : 'up',
      reason: null,
      model,
      running: status.running,
      decoding: status.decoding,
      prefilling: status.prefilling,
      queued: status.queued,
      waitsFor: status.waitsFor,
      tokensPerSecond: status.tokensPerSecond,
      prefillTokensPerSecond: status.prefillTokensPerSecond,
      kv: { limitBytes, runningBytes, cacheBytes },
      kernels: status.kernels,
      threads: status.threads,
      rssBytes: status.rssBytes,
      adapters: status.adapters.length,
      adapterUse: [...status.adapterUse].sort((a, b) => b.running - a.running).slice(0, MAX_ADAPTER_USE),
    };
  } catch (error) {
    const down = {
      model: null,
      running: 0,
      decoding: 0,
      prefilling: 0,
      queued: 0,
      waitsFor: null,
      tokensPerSecond: 0,
      prefillTokensPerSecond: 0,
      kv: { limitBytes: 0, runningBytes: 0, cacheBytes: 0 },
      kernels: '',
      threads: 0,
      rssBytes: 0,
      adapters: 0,
      adapterUse: [],
    };
    return { state: 'down', reason: toErrorShape(error).message, ...down };
  }
}

export async function readGateway(source: StatusSource): Promise<GatewayView> {
  try {
    const status = await withDeadline(STATUS_DEADLINE_MS, 'The gateway', source.call<GatewayStatus>('status'));
    return { state: 'up', reason: null, port: status.port, requests: status.requests, workers: status.workers.length };
  } catch (error) {
    return { state: 'down', reason: toErrorShape(error).message, port: null, requests: 0, workers: 0 };
  }
}
