/** The gateway's worker calls over a real RPC socket, with a scripted model behind each worker socket. */
import { TackroomError } from '../../contract/errors.js';
import type { TraceEntry, WorkerSession, WorkerSummary } from '../../main/proxy/protocol.js';
import { type Handlers, serveRpc } from '../../main/services/rpc.js';
import { type Script, type ScriptedModel, startScriptedModel } from '../harness/scripted-model.js';

export interface ScriptedGateway {
  /** Every session begun, in order. */
  readonly sessions: WorkerSession[];
  /** As a crash: all connections drop, worker sockets too. */
  kill(): Promise<void>;
}

interface Worker {
  model: ScriptedModel;
  session: WorkerSession | null;
  from: number;
}

const entry = (index: number): TraceEntry => ({
  requestId: `request-${index}`,
  promptIds: [1, 2],
  completionIds: [3],
  logprobs: [-0.5],
  adapterHash: null,
  finish: 'stop',
  synthetic: false,
  blocked: 0,
});

/** `scriptFor`: what the model does in a session. */
export async function startScriptedGateway(
  path: string,
  scriptFor: (session: WorkerSession) => Script,
): Promise<ScriptedGateway> {
  const workers = new Map<string, Worker>();
  const sessions: WorkerSession[] = [];
  const find = (name: string): Worker => {
    const worker = workers.get(name);
    if (!worker) throw new TackroomError('NOT_FOUND', `There is no worker ${name}.`);
    return worker;
  };
  const handlers: Handlers = {
    'worker.open': async ({ worker, path: socket }: { worker: string; path: string }) => {
      workers.set(worker, { model: await startScriptedModel(socket, () => ({ status: 409 })), session: null, from: 0 });
    },
    'worker.begin': (session: WorkerSession) => {
      const worker = find(session.worker);
      if (worker.session) throw new TackroomError('BUSY', 'A rollout is open.');
      Object.assign(worker, { session, from: worker.model.seen.length });
      worker.model.script = scriptFor(session);
      sessions.push(session);
    },
    'worker.end': ({ worker: name }: { worker: string }): WorkerSummary => {
      const worker = find(name);
      const requests = worker.model.seen.length - worker.from;
      worker.session = null;
      worker.model.script = () => ({ status: 409 });
      return {
        sessionIds: [`session-${name}`],
        requests,
        toolCalls: Math.max(0, requests - 1),
        blocked: 0,
        promptTokens: 2 * requests,
        completionTokens: requests,
        finish: 'stop',
        error: null,
        trace: Array.from({ length: requests }, (_, index) => entry(index)),
      };
    },
    'worker.close': async ({ worker }: { worker: string }) => {
      await find(worker).model.close();
      workers.delete(worker);
    },
  };
  const server = await serveRpc(path, handlers);
  return {
    sessions,
    async kill() {
      await server.close();
      await Promise.all([...workers.values()].map((worker) => worker.model.close()));
    },
  };
}
