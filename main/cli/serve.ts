/** `tackroom serve`: gateway, engine and the window in a browser, until Ctrl-C. */
import { spawn } from 'node:child_process';
import { TackroomError } from '../../contract/errors.js';
import { engineNeeded, startWhenNeeded } from '../services/engine-need.js';
import { gatewayPort, keepPort, knownPort } from '../services/gateway-port.js';
import { gatewaySockets, isRunning } from '../services/leftovers.js';
import { defaultHome, openHome } from '../services/paths.js';
import { type Services, type ServicesOptions, startServices } from '../services/services.js';
import { Vault } from '../vault/vault.js';
import { startApp } from './app.js';
import { leaveHarnesses } from './connected-harnesses.js';
import { findModel, type GlobalOptions } from './context.js';
import { runningGateway } from './doctor/connection-checks.js';
import { type CommandIo, printError } from './io.js';
import { cliLoginItem } from './login-item.js';
import { portNumber, sizeInBytes } from './numbers.js';
import { unlockVault } from './open-vault.js';

export interface ServeOptions extends GlobalOptions {
  /** Default: the port of this home. */
  port?: string;
  uiPort: string;
  model?: string;
  /** Such as 2GiB. */
  contextMemory?: string;
  open: boolean;
  /** No window. */
  gatewayOnly?: boolean;
  json?: boolean;
}

/** Opens an address in the user's browser; failing is fine, the address was printed. */
export function openBrowser(url: string): void {
  const [command, args] =
    process.platform === 'darwin'
      ? ['open', [url]]
      : process.platform === 'win32'
        ? ['cmd', ['/c', 'start', '', url]]
        : ['xdg-open', [url]];
  const child = spawn(command as string, args as string[], { stdio: 'ignore', detached: true });
  child.on('error', () => undefined);
  child.unref();
}

/** Resolves when the signal is aborted. */
export function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** `--port` is for this time only, unless this home has no port yet; 0 is never kept. */
async function servePort(option: string | undefined, home: string, io: CommandIo): Promise<number> {
  if (option === undefined) return gatewayPort(home);
  const port = portNumber('--port', option);
  const known = knownPort(home);
  if (known === null && port !== 0) keepPort(home, port);
  else if (known !== null && known !== port && port !== 0)
    io.stderr.write(`Harnesses that are connected call port ${known}; this gateway listens at ${port}.\n`);
  return port;
}

/** Errors: BUSY when a gateway of this home, such as the one started at login, has the port. */
async function refuseSecond(home: string, port: number): Promise<void> {
  if (port === 0 || (await runningGateway(home)) !== port) return;
  const pids = gatewaySockets(openHome(home)).flatMap((file) => /-(\d+)\.sock$/.exec(file)?.[1] ?? []);
  const alive = pids.filter((pid) => isRunning(Number(pid)));
  throw new TackroomError(
    'BUSY',
    `A gateway of this home already answers at port ${port}${alive.length > 0 ? ` (process ${alive.join(', ')})` : ''}.`,
    'It may have been started at login (tackroom login-item status). End it, or use the window that is open.',
  );
}

interface Served {
  services: Services;
  /** null: there is no window. */
  url: string | null;
  stop(): Promise<void>;
}

async function start(options: ServeOptions, home: string, io: CommandIo): Promise<Served> {
  const port = await servePort(options.port, home, io);
  await refuseSecond(home, port);
  const common: ServicesOptions = {
    home,
    modelDir: await findModel(options),
    kvBytes: options.contextMemory === undefined ? undefined : sizeInBytes('--context-memory', options.contextMemory),
    port,
    vault: await unlockVault(new Vault(home), io),
    onRestart: (service, exit) =>
      io.stderr.write(`The ${service} ended (${exit.signal ?? exit.code}); it is started again.\n`),
  };
  if (options.gatewayOnly) return gatewayAlone(common, io);
  const app = await startApp({
    ...common,
    uiPort: portNumber('--ui-port', options.uiPort),
    loginItem: cliLoginItem(home),
  });
  return { services: app.services, url: app.window.url, stop: () => app.stop() };
}

/** No window, and no engine before somebody needs it. */
async function gatewayAlone(common: ServicesOptions, io: CommandIo): Promise<Served> {
  const services = await startServices({ ...common, engine: 'later' });
  const endLooking = startWhenNeeded(
    () => engineNeeded(services.store, services.port),
    () => void services.startEngine().catch((error: unknown) => printError(io, error)),
  );
  return {
    services,
    url: null,
    async stop() {
      endLooking();
      await services.stop();
    },
  };
}

export async function serveCommand(options: ServeOptions, io: CommandIo): Promise<number> {
  const { home } = openHome(defaultHome(options.home));
  const { services, url, stop } = await start(options, home, io);
  const gateway = `http://127.0.0.1:${services.port}`;
  if (options.json) io.stdout.write(`${JSON.stringify({ ready: true, gateway, window: url, home })}\n`);
  else
    io.stdout.write(
      `${url === null ? '' : `Window   ${url}\n`}Gateway  ${gateway}/v1 (pi: /pi/v1)\nState    ${home}\nCtrl-C stops ${url === null ? 'it' : 'both'}.\n`,
    );
  if (options.open && url !== null) openBrowser(url);
  await untilAborted(io.signal);
  await leaveHarnesses(services.port, io);
  io.stderr.write('Stopping; everything recorded is kept.\n');
  await stop();
  return 130;
}
