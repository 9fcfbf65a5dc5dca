/** The window, built from the sources as they are, with everything real behind it but the model: store, recorder, adapter registry, RPC sockets. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { rollbackAdapter, swapAdapter } from '../../main/adapters/registry.js';
import type { EngineStatus } from '../../main/engine/protocol.js';
import type { GatewayStatus } from '../../main/proxy/protocol.js';
import { Recorder } from '../../main/record/recorder.js';
import { RpcClient, serveRpc } from '../../main/services/rpc.js';
import { openStore, type Store } from '../../main/store/store.js';
import { EventBus } from '../../main/window/event-bus.js';
import { connectLiveSources } from '../../main/window/live-sources.js';
import { startWindowServer } from '../../main/window/server.js';
import { createWindowServices } from '../../main/window/services.js';
import { connectSources } from '../window/connect-sources.js';

const ENGINE_STATUS: EngineStatus = {
  model: {
    id: 'tackroom-demo',
    dir: '/models/demo',
    architecture: 'qwen2',
    parameters: 1_048_576,
    contextLength: 4096,
    bytes: 4_310_000,
    quantisation: 'Q8_0',
    precision: 'int8',
    trainingPrecision: 'bf16',
    precisionGap: { mean: 0.0312, max: 0.41 },
  },
  adapters: ['a7'],
  adapterUse: [{ hash: 'a7', running: 4, dropped: false }],
  running: 5,
  decoding: 4,
  prefilling: 1,
  queued: 2,
  waitsFor: { what: 'place', oldestMs: 3100 },
  training: true,
  tokensPerSecond: 6240,
  prefillTokensPerSecond: 41_000,
  kv: {
    limitBytes: 256 << 20,
    runningBytes: 24 << 20,
    cacheBytes: 96 << 20,
    cachedSequences: 12,
    bytesPerToken: 2048,
  },
  kernels: 'avx512',
  threads: 2,
  pid: 1,
  rssBytes: 184 << 20,
};
const GATEWAY_STATUS: GatewayStatus = { port: 4141, pid: 1, sessions: 3, requests: 1204, workers: ['w0', 'w1'] };

export interface WindowApp {
  store: Store;
  recorder: Recorder;
  bus: EventBus;
  url: string;
  port: number;
  /** Ids of runs that were asked to stop. */
  stopped: string[];
  /** How often the gateway was told to read its routes again. */
  reloads(): number;
  /** Sends what the gateway sends after each committed request. */
  recorded(sessionId: string): void;
  /** Ends the window server and starts it again on the same port. */
  restart(whileDown: () => Promise<void>): Promise<void>;
  close(): Promise<void>;
}

const BUILD = fileURLToPath(new URL('../../scripts/build-renderer.mjs', import.meta.url));

/** The page as it is in the sources, built into `dir`. */
export const buildRenderer = (dir: string): Promise<unknown> => promisify(execFile)(process.execPath, [BUILD, dir]);

export async function startWindowApp(): Promise<WindowApp> {
  const home = mkdtempSync(join(tmpdir(), 'tackroom-e2e-'));
  const staticDir = join(home, 'renderer');
  await buildRenderer(staticDir);
  const store = openStore(home);
  const recorder = new Recorder(store);
  const bus = new EventBus();
  const stopped: string[] = [];
  let reloads = 0;
  const engineServer = await serveRpc(join(home, 'engine.sock'), { status: () => ENGINE_STATUS });
  const gatewayServer = await serveRpc(join(home, 'gateway.sock'), {
    status: () => GATEWAY_STATUS,
    'routes.reload': () => {
      reloads += 1;
      return null;
    },
  });
  const engine = new RpcClient(join(home, 'engine.sock'), 'engine');
  const gateway = new RpcClient(join(home, 'gateway.sock'), 'gateway');
  await gateway.connect();
  const disconnect = connectLiveSources(bus, gateway, engine);
  const reload = (): Promise<unknown> => gateway.call('routes.reload');
  const services = createWindowServices({
    store,
    bus,
    connect: connectSources(home),
    gateway,
    engine,
    transcript: (id) => recorder.sessionTranscript(id),
    swap: (harness, adapterId) => swapAdapter(store, reload, harness, adapterId),
    rollback: (harness) => rollbackAdapter(store, reload, harness),
    stopRun: async (id) => {
      stopped.push(id);
      const run = store.run.update(id, (record) => ({ ...record, status: 'stopped', waitingFor: null, etaMs: null }));
      if (run) bus.publish('run.status', { run });
    },
  });
  const token = 'e2e-token-0123456789-0123456789-012345';
  const start = (port: number) => startWindowServer({ port, token, services, bus, staticDir });
  let server = await start(0);
  return {
    store,
    recorder,
    bus,
    url: server.url,
    port: server.port,
    stopped,
    reloads: () => reloads,
    recorded: (sessionId) =>
      gatewayServer.broadcast('recorded', { sessionId, requestId: 'r', origin: 'user', blocked: 0 }),
    async restart(whileDown) {
      const { port } = server;
      await server.close();
      await whileDown();
      server = await start(port);
    },
    async close() {
      disconnect();
      await server.close();
      engine.close();
      gateway.close();
      await Promise.all([engineServer.close(), gatewayServer.close()]);
      store.close();
      rmSync(home, { recursive: true, force: true });
    },
  };
}
