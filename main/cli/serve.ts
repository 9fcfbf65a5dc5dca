/** `tackroom serve`: gateway, engine and the window in a browser, until Ctrl-C. */
import { spawn } from 'node:child_process';
import { connectedTo } from '../harness/connected.js';
import { gatewayPort, keepPort, knownPort } from '../services/gateway-port.js';
import { defaultHome, openHome } from '../services/paths.js';
import { startApp } from './app.js';
import { findModel, type GlobalOptions } from './context.js';
import type { CommandIo } from './io.js';
import { portNumber, sizeInBytes } from './numbers.js';

export interface ServeOptions extends GlobalOptions {
  /** Default: the port of this home. */
  port?: string;
  uiPort: string;
  model?: string;
  /** Such as 2GiB. */
  contextMemory?: string;
  open: boolean;
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

export async function serveCommand(options: ServeOptions, io: CommandIo): Promise<number> {
  const { home } = openHome(defaultHome(options.home));
  const app = await startApp({
    home,
    modelDir: await findModel(options),
    kvBytes: options.contextMemory === undefined ? undefined : sizeInBytes('--context-memory', options.contextMemory),
    port: await servePort(options.port, home, io),
    uiPort: portNumber('--ui-port', options.uiPort),
    onRestart: (service, exit) =>
      io.stderr.write(`The ${service} ended (${exit.signal ?? exit.code}); it is started again.\n`),
  });
  const gateway = `http://127.0.0.1:${app.services.port}`;
  if (options.json) io.stdout.write(`${JSON.stringify({ ready: true, gateway, window: app.window.url, home })}\n`);
  else
    io.stdout.write(
      `Window   ${app.window.url}\nGateway  ${gateway}/v1 (pi: /pi/v1)\nState    ${home}\nCtrl-C stops both.\n`,
    );
  if (options.open) openBrowser(app.window.url);
  await untilAborted(io.signal);
  io.stderr.write('Stopping; everything recorded is kept.\n');
  for (const name of connectedTo(app.services.port))
    io.stderr.write(
      `${name} has no model until the next \`tackroom serve\`; \`tackroom disconnect ${name}\` gives it its own back.\n`,
    );
  await app.stop();
  return 130;
}
