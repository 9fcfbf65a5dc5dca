/** The gateway's side of one rollout worker: its socket, and the session open on it. Outlives restarts of the gateway. */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { TackroomError } from '../../contract/errors.js';
import { MODEL_SOCKET } from '../harness/pi-sandbox.js';
import type { GatewayCalls, GatewayMethod, WorkerSession, WorkerSummary } from '../proxy/protocol.js';
import type { CallOptions, RpcClient } from '../services/rpc.js';

export type GatewayClient = Pick<RpcClient, 'call'>;

const CALL_TIMEOUT_MS = 30_000;
const BEGIN_ATTEMPTS = 4;

export class WorkerSocket {
  /** Host folder with the socket `model.sock`; to be mounted as a folder, because the socket is made anew at times. */
  readonly dir: string;

  constructor(
    private readonly gateway: GatewayClient,
    readonly name: string,
    socketsDir: string,
  ) {
    this.dir = join(socketsDir, name);
    mkdirSync(this.dir, { recursive: true, mode: 0o700 });
  }

  /**
   * Starts a session on the worker's socket. Opens the socket first where the gateway does not know it (the first time,
   * and after it was started again), and ends a session that was left open. Errors: SERVICE_GONE, DEADLINE.
   */
  async begin(session: Omit<WorkerSession, 'worker'>, signal?: AbortSignal): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        await this.#call('worker.begin', { ...session, worker: this.name }, { signal });
        return;
      } catch (error) {
        if (attempt === BEGIN_ATTEMPTS || !(error instanceof TackroomError)) throw error;
        if (error.code === 'NOT_FOUND')
          await this.#call('worker.open', { worker: this.name, path: join(this.dir, MODEL_SOCKET) });
        else if (error.code === 'BUSY') await this.end();
        else if (error.code !== 'SERVICE_GONE') throw error;
      }
    }
  }

  /** Ends the session and returns what was sampled in it. */
  end(): Promise<WorkerSummary> {
    return this.#call('worker.end', { worker: this.name });
  }

  /** Closes the socket; a gateway that is gone has closed it already. */
  async close(): Promise<void> {
    try {
      await this.#call('worker.close', { worker: this.name });
    } catch (error) {
      if (!(error instanceof TackroomError) || !['SERVICE_GONE', 'NOT_FOUND'].includes(error.code)) throw error;
    } finally {
      rmSync(this.dir, { recursive: true, force: true });
    }
  }

  #call<M extends GatewayMethod>(
    method: M,
    params: GatewayCalls[M]['params'],
    options: CallOptions = {},
  ): Promise<GatewayCalls[M]['result']> {
    return this.gateway.call<GatewayCalls[M]['result']>(method, params, { timeoutMs: CALL_TIMEOUT_MS, ...options });
  }
}
