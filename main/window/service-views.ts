/** State of the engine and gateway processes as the window shows it. A silent process is `down` with the reason, not an error. */
import { toErrorShape } from '../../contract/errors.js';
import type { EngineView, GatewayView } from '../../contract/views.js';
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
    const { id, architecture, parameters, contextLength, bytes } = status.model;
    return {
      state: status.training ? 'training' : 'up',
      reason: null,
      model: { id, architecture, parameters, contextLength, bytes },
      running: status.running,
      queued: status.queued,
      tokensPerSecond: status.tokensPerSecond,
      kernels: status.kernels,
      threads: status.threads,
      rssBytes: status.rssBytes,
      adapters: status.adapters.length,
    };
  } catch (error) {
    const down = {
      model: null,
      running: 0,
      queued: 0,
      tokensPerSecond: 0,
      kernels: '',
      threads: 0,
      rssBytes: 0,
      adapters: 0,
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
