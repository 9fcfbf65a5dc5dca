/** A whole gateway inside the test: real sockets, real store, real RPC; only the model is scripted. */
import { mkdtempSync, rmSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ChatMessage, ToolDefinition } from '../../main/engine/protocol.js';
import { EngineClient } from '../../main/proxy/engine-client.js';
import { Gateway } from '../../main/proxy/gateway.js';
import type { RecordedEvent, WorkerSession, WorkerSummary } from '../../main/proxy/protocol.js';
import { type CallVerdict, DEFAULT_DEADLINES, type Deadlines, type Guard } from '../../main/proxy/services.js';
import { DirectSettler } from '../../main/proxy/settle/settler.js';
import { StoreRoutes } from '../../main/proxy/store-routes.js';
import { installToken } from '../../main/proxy/token.js';
import { Recorder } from '../../main/record/recorder.js';
import { RefusalLog, type Why } from '../../main/services/refusals.js';
import { RpcClient } from '../../main/services/rpc.js';
import { openStore, type Store } from '../../main/store/store.js';
import { type FakeEngine, startFakeEngine } from './fake-engine.js';

export const BASH: ToolDefinition = {
  type: 'function',
  function: { name: 'bash', parameters: { type: 'object', properties: { command: { type: 'string' } } } },
};
export const ask = (text: string): ChatMessage[] => [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: text },
];

/** Blocks every call whose arguments contain `evil`. */
const guard: Guard = {
  checkResponse: ({ toolCalls }) =>
    toolCalls.map(({ id, arguments: text }): CallVerdict => {
      const evil = text.includes('evil');
      return {
        toolCallId: id,
        verdict: evil ? 'block' : 'allow',
        stage: 2,
        rule: evil ? 'test.evil' : 'none',
        severity: evil ? 'high' : 'info',
        reason: evil ? 'It is evil.' : 'Nothing found.',
        ms: 0.1,
      };
    }),
  blockedNotice: (name, reason) => `[tackroom] blocked call to \`${name}\`: ${reason}`,
};

export interface Reply {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
}

export interface Rig {
  home: string;
  store: Store;
  recorder: Recorder;
  engine: FakeEngine;
  gateway: Gateway;
  port: number;
  token: string;
  events: RecordedEvent[];
  problems: string[];
  call<T>(method: string, params?: unknown): Promise<T>;
  /** POST to the loopback port with the token. */
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Reply>;
  chat(body: Record<string, unknown>, headers?: Record<string, string>): Promise<Reply>;
  worker(name: string, session?: Partial<WorkerSession>): Promise<WorkerPort>;
  close(): Promise<void>;
}

export interface WorkerPort {
  socketPath: string;
  chat(body: Record<string, unknown>, headers?: Record<string, string>): Promise<Reply>;
  begin(session?: Partial<WorkerSession>): Promise<void>;
  end(): Promise<WorkerSummary>;
}

export interface Address {
  port?: number;
  socketPath?: string;
}

export function http(
  address: Address,
  method: string,
  path: string,
  body: string | Buffer | null,
  headers: Record<string, string> = {},
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      {
        host: '127.0.0.1',
        ...address,
        method,
        path,
        headers: { ...(body !== null && { 'content-type': 'application/json' }), ...headers },
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.once('error', reject);
        response.once('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text: Buffer.concat(chunks).toString('utf8'),
          }),
        );
      },
    );
    outgoing.once('error', reject);
    outgoing.end(body ?? undefined);
  });
}

/** `guardOf`: the guard of a store. `enginePath`: the socket of a real engine that answers instead of the scripted one. */
export async function startRig(
  deadlines: Partial<Deadlines> = {},
  guardOf: (store: Store) => Guard = () => guard,
  enginePath?: string,
): Promise<Rig> {
  const home = mkdtempSync(join(tmpdir(), 'tackroom-proxy-'));
  const store = openStore(home);
  const recorder = new Recorder(store);
  const engine = await startFakeEngine(home);
  const rpc = new RpcClient(enginePath ?? engine.path, 'engine', 200);
  const routes = new StoreRoutes(store);
  const token = installToken(home);
  const events: RecordedEvent[] = [];
  const refusals = new RefusalLog(home, 'gateway', [token]);
  const problems: string[] = [];
  const guardWith = guardOf(store);
  const services = {
    token,
    settler: new DirectSettler(recorder, guardWith),
    messages: recorder.messages,
    blockedNotice: guardWith.blockedNotice,
    engine: new EngineClient(rpc, (hash) => store.adapter.list({ where: { hash }, limit: 1 })[0]?.dir),
    routes,
    deadlines: { ...DEFAULT_DEADLINES, ...deadlines },
    onRecorded: (event: RecordedEvent) => void events.push(event),
    onRefused: (request: IncomingMessage, why: Why) => refusals.add(request, why),
    onProblem: (message: string) => void problems.push(message),
  };
  const gateway = new Gateway(services, store, routes);
  const port = await gateway.listen(0);
  const handlers = gateway.handlers() as Record<string, (params: unknown) => unknown>;
  const call = async <T>(method: string, params: unknown = {}): Promise<T> => (await handlers[method]!(params)) as T;
  const post: Rig['post'] = (path, body, headers = {}) =>
    http({ port }, 'POST', path, JSON.stringify(body), { authorization: `Bearer ${token}`, ...headers });
  return {
    home,
    store,
    recorder,
    engine,
    gateway,
    port,
    token,
    events,
    problems,
    call,
    post,
    chat: (body, headers) => post('/pi/v1/chat/completions', { model: 'tackroom/demo', ...body }, headers),
    async worker(name, session = {}) {
      const socketPath = join(home, `${name}.sock`);
      await call('worker.open', { worker: name, path: socketPath });
      const begin = async (more: Partial<WorkerSession> = {}): Promise<void> =>
        void (await call('worker.begin', workerSession(name, { ...session, ...more })));
      await begin();
      return {
        socketPath,
        begin,
        chat: (body, headers) =>
          http(
            { socketPath },
            'POST',
            '/v1/chat/completions',
            JSON.stringify({ model: 'tackroom/demo', ...body }),
            headers,
          ),
        end: () => call<WorkerSummary>('worker.end', { worker: name }),
      };
    },
    async close() {
      await gateway.close();
      rpc.close();
      await engine.close();
      store.close();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

function workerSession(worker: string, more: Partial<WorkerSession>): WorkerSession {
  return {
    worker,
    harness: 'pi',
    origin: 'rollout',
    rolloutId: `rollout-${worker}`,
    title: 'A task',
    adapter: null,
    sampling: { temperature: 1, seed: 42, maxTokens: 64 },
    maxCalls: 10,
    maxPromptTokens: 100_000,
    profile: 'training',
    upstream: null,
    ...more,
  };
}

export const errorOf = (reply: Reply): { message: string; type: string; code: string } =>
  (JSON.parse(reply.text) as { error: { message: string; type: string; code: string } }).error;
