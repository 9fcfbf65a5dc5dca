/** The running app without a window: store, engine process, gateway process. Shared by the CLI, the demo and Electron. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { TackroomError } from '../../contract/errors.js';
import type { EngineCalls, EngineMethod } from '../engine/protocol.js';
import type { GatewayCalls, GatewayMethod } from '../proxy/protocol.js';
import { openStore, type Store } from '../store/store.js';
import { Vault } from '../vault/vault.js';
import { lockHome } from './home-lock.js';
import { engineSocketName, gatewaySocketName, removeLeftovers } from './leftovers.js';
import { type HomePaths, openHome, serviceEntry } from './paths.js';
import { type CallOptions, RpcClient } from './rpc.js';
import { type ServiceExit, type SpawnService, Supervisor } from './supervisor.js';

export interface ServicesOptions {
  home: string;
  modelDir: string;
  /** Gateway port on 127.0.0.1; 0 = any free one. */
  port: number;
  threads?: number;
  /** Memory for keys and values; default: by what is free. */
  kvBytes?: number;
  spawn?: SpawnService;
  /** Opened here, it is handed over to the gateway whenever that one starts. Default: what the home's key file opens. */
  vault?: Vault;
  /** Default: now. `later`: when `startEngine` is called. */
  engine?: 'now' | 'later';
  onRestart?: (service: 'engine' | 'gateway', exit: ServiceExit) => void;
  onLog?: (service: 'engine' | 'gateway', line: string) => void;
}

export interface Services {
  paths: HomePaths;
  store: Store;
  engineClient: RpcClient;
  gatewayClient: RpcClient;
  engine<M extends EngineMethod>(
    method: M,
    params: EngineCalls[M]['params'],
    options?: CallOptions,
  ): Promise<EngineCalls[M]['result']>;
  gateway<M extends GatewayMethod>(
    method: M,
    params: GatewayCalls[M]['params'],
    options?: CallOptions,
  ): Promise<GatewayCalls[M]['result']>;
  /** Port the gateway listens on. */
  readonly port: number;
  vault: Vault;
  /** After the vault was opened in this process: opens it in the gateway too. */
  unlockGateway(): Promise<void>;
  /** Nothing happens where it runs already. Errors: those of its start. */
  startEngine(): Promise<void>;
  pids(): { engine: number | undefined; gateway: number | undefined };
  stop(): Promise<void>;
}

const UNLOCK_DEADLINE_MS = 10_000;

/**
 * Starts both processes and waits until they are ready. Errors: BUSY when another process runs the app on this home; those of
 * their start, as one sentence.
 */
export async function startServices(options: ServicesOptions): Promise<Services> {
  const paths = openHome(options.home);
  const releaseHome = lockHome(paths.home);
  let store: Store;
  try {
    store = openStore(options.home);
    removeLeftovers(paths);
  } catch (error) {
    releaseHome();
    throw error;
  }
  const engineSocket = join(paths.sockets, engineSocketName());
  const gatewaySocket = join(paths.sockets, gatewaySocketName());
  const supervise = <Ready extends object>(
    name: 'engine' | 'gateway',
    entry: string,
    args: string[],
    onReady?: () => void,
  ): Supervisor<Ready> =>
    new Supervisor<Ready>({
      name,
      entry,
      args,
      spawn: options.spawn,
      readyTimeoutMs: 60_000,
      onReady,
      onRestart: (exit) => options.onRestart?.(name, exit),
      onLog: (line) => options.onLog?.(name, line),
      onGiveUp: ({ message, code, hint }) =>
        process.stderr.write(`The ${name} is left stopped: ${message} (${code})\n${hint ? `${hint}\n` : ''}`),
    });
  const engineService = supervise('engine', serviceEntry('engine/entry.js'), [
    '--model',
    options.modelDir,
    '--socket',
    engineSocket,
    '--adapters',
    paths.adapters,
    '--threads',
    String(options.threads ?? 0),
    ...(options.kvBytes === undefined ? [] : ['--kv-bytes', String(options.kvBytes)]),
  ]);
  const gatewayArgs = (port: number): string[] => [
    '--home',
    options.home,
    '--socket',
    gatewaySocket,
    '--engine',
    engineSocket,
    '--port',
    String(port),
  ];
  const engineClient = new RpcClient(engineSocket, 'engine', 30_000);
  const gatewayClient = new RpcClient(gatewaySocket, 'gateway', 30_000);
  const vault = options.vault ?? new Vault(options.home);
  const unlockGateway = async (): Promise<void> => {
    const key = vault.handOver()?.toString('base64');
    if (key !== undefined) await gatewayClient.call('vault.unlock', { key }, { timeoutMs: UNLOCK_DEADLINE_MS });
  };
  const gatewayService = supervise<{ port: number }>(
    'gateway',
    serviceEntry('proxy/entry.js'),
    gatewayArgs(options.port),
    () =>
      void unlockGateway().catch((error: Error) =>
        process.stderr.write(`The gateway cannot use the keys of servers: ${error.message}\n`),
      ),
  );
  let port: number;
  try {
    if (options.engine !== 'later') await engineService.start();
    port = (await gatewayService.start()).port;
  } catch (error) {
    gatewayClient.close();
    await Promise.allSettled([engineService.stop(), gatewayService.stop()]);
    store.close();
    releaseHome();
    throw error;
  }
  return {
    paths,
    store,
    engineClient,
    gatewayClient,
    engine: (method, params, callOptions) => engineClient.call(method, params, callOptions),
    gateway: (method, params, callOptions) => gatewayClient.call(method, params, callOptions),
    get port() {
      return port;
    },
    vault,
    unlockGateway,
    async startEngine() {
      await engineService.start();
    },
    pids: () => ({ engine: engineService.pid, gateway: gatewayService.pid }),
    async stop() {
      engineClient.close();
      gatewayClient.close();
      await Promise.allSettled([gatewayService.stop(), engineService.stop()]);
      for (const socket of [engineSocket, gatewaySocket]) rmSync(socket, { force: true });
      store.close();
      releaseHome();
    },
  };
}

/** Repeats `work` while a service is being started again. */
export async function throughRestarts<T>(work: () => Promise<T>, attempts = 3): Promise<T> {
  for (let i = 1; ; i++) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof TackroomError) || error.code !== 'SERVICE_GONE' || i >= attempts) throw error;
      await new Promise((resolve) => setTimeout(resolve, 200 * i));
    }
  }
}

/**
 * Runs `work` and throws SERVICE_GONE when the engine was started again meanwhile: adapters in training live in its
 * memory only, so what was sampled after that is not what was asked for.
 */
export async function sameEngine<T>(services: Services, work: () => Promise<T>): Promise<T> {
  const before = (await services.engine('status', {}, { timeoutMs: 60_000 })).pid;
  const result = await work();
  const after = (await services.engine('status', {}, { timeoutMs: 60_000 })).pid;
  if (before !== after)
    throw new TackroomError(
      'SERVICE_GONE',
      'The engine was started again in the middle of the rollouts.',
      'The run goes on from its last checkpoint.',
    );
  return result;
}
