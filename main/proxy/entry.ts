/**
 * The gateway process: `entry.js --home DIR --socket PATH --engine PATH [--port N]`. Prints `{"ready":true,"port":N}` on
 * stdout when it serves; one JSON error line on stderr and exit code 1 when it cannot. Ends with its parent (IPC, or the
 * end of a piped stdin) and on SIGTERM and SIGINT.
 */
import { fstatSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { TackroomError, toErrorShape } from '../../contract/errors.js';
import { blockedNotice } from '../guard/guard.js';
import { MessageStore } from '../record/message-store.js';
import { RefusalLog } from '../services/refusals.js';
import { RpcClient, type RpcServer, serveRpc } from '../services/rpc.js';
import { openStore } from '../store/store.js';
import { EngineClient } from './engine-client.js';
import { Gateway } from './gateway.js';
import { DEFAULT_DEADLINES, type ProxyServices } from './services.js';
import { ThreadSettler } from './settle/thread-settler.js';
import { StoreRoutes } from './store-routes.js';
import { installToken } from './token.js';

/** How long a request waits for an engine that is being started again. */
const ENGINE_CONNECT_MS = 10_000;

/**
 * Bodies pass through memory that the collector counts: a small heap is otherwise swept whole several times a second, and every stream
 * waits for it. Per cent that it may grow in between.
 */
const HEAP_GROWTH = 200;

interface Arguments {
  home: string;
  socket: string;
  engine: string;
  port: number;
}

function readArguments(): Arguments {
  const { values } = parseArgs({
    options: {
      home: { type: 'string' },
      socket: { type: 'string' },
      engine: { type: 'string' },
      port: { type: 'string', default: '0' },
    },
  });
  const { home, socket, engine } = values;
  const port = Number(values.port);
  if (!home || !socket || !engine || !Number.isInteger(port) || port < 0 || port > 65535)
    throw new TackroomError(
      'BAD_ARGUMENT',
      'The gateway needs --home, --socket, --engine and a --port between 0 and 65535.',
    );
  return { home, socket, engine, port };
}

function onParentGone(stop: () => Promise<void>): void {
  if (process.connected) {
    process.once('disconnect', stop);
    return;
  }
  const stdin = fstatSync(0);
  if (stdin.isFIFO() || stdin.isSocket()) process.stdin.once('end', stop).resume();
}

async function start(args: Arguments): Promise<void> {
  setFlagsFromString(`--heap-growing-percent=${HEAP_GROWTH}`);
  const token = installToken(args.home);
  // Before the thread opens it too: one of them brings the schema up to date.
  const store = openStore(args.home);
  // Nothing can be acknowledged without it: whoever started the gateway starts it again.
  const settler = new ThreadSettler(args.home, args.engine, (cause) => {
    process.stderr.write(`${JSON.stringify({ level: 'error', message: `Recording failed: ${cause.message}` })}\n`);
    process.exit(1);
  });
  const rpc = new RpcClient(args.engine, 'engine', ENGINE_CONNECT_MS);
  const routes = new StoreRoutes(store);
  const refusals = new RefusalLog(args.home, 'gateway', [token]);
  let control: RpcServer | undefined;
  const services: ProxyServices = {
    token,
    settler,
    messages: new MessageStore(store.db),
    blockedNotice,
    engine: new EngineClient(rpc, (hash) => store.adapter.list({ where: { hash }, limit: 1 })[0]?.dir),
    routes,
    deadlines: DEFAULT_DEADLINES,
    onRecorded: (event) => control?.broadcast('recorded', event),
    onRefused: (request, why) => refusals.add(request, why),
    onProblem: (message) => process.stderr.write(`${JSON.stringify({ level: 'error', message })}\n`),
  };
  const gateway = new Gateway(services, store, routes);
  const port = await gateway.listen(args.port);
  control = await serveRpc(args.socket, gateway.handlers());
  await settler.ready;

  let stopping = false;
  const stop = async (): Promise<void> => {
    if (stopping) return;
    stopping = true;
    await gateway.close();
    await settler.close();
    await control?.close();
    rpc.close();
    store.close();
    process.exit(0);
  };
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
  onParentGone(stop);
  process.stdout.write(`${JSON.stringify({ ready: true, port })}\n`);
}

try {
  await start(readArguments());
} catch (error) {
  process.stderr.write(`${JSON.stringify(toErrorShape(error))}\n`);
  process.exit(1);
}
