/** `tackroom connect|disconnect NAME`: with the port and the token of this home. */
import { TackroomError } from '../../contract/errors.js';
import { connectCommand, disconnectCommand } from '../harness/connect.js';
import { gatewaySettings } from '../harness/connect-change.js';
import { hermesEnvironment } from '../harness/connect-hermes.js';
import { connectorOf } from '../harness/connectors.js';
import { installToken } from '../proxy/token.js';
import { gatewayPort, keepPort, knownPort } from '../services/gateway-port.js';
import { defaultHome, openHome } from '../services/paths.js';
import { servedContext } from '../services/served-context.js';
import { findModel, type GlobalOptions } from './context.js';
import type { CommandIo } from './io.js';
import { wholeNumber } from './numbers.js';

export interface ConnectCliOptions extends GlobalOptions {
  harness: string;
  dryRun?: boolean;
  root?: string;
  /** Default: the port of this home. */
  port?: string;
  /** What is or will be served; its context length goes into the harness's settings. */
  model?: string;
  /** Tokens; for a model that cannot be asked. */
  context?: string;
  /** hermes alone: print variables, change nothing. */
  printEnv?: boolean;
}

/** `--port` becomes the port of this home, except where nothing is to be changed. */
async function portOf(options: ConnectCliOptions, home: string, io: CommandIo): Promise<number> {
  const looking = options.dryRun === true || options.printEnv === true;
  if (options.port === undefined) return gatewayPort(home);
  const port = wholeNumber('--port', options.port, 1, 65_535);
  const before = knownPort(home);
  if (looking || before === port) return port;
  keepPort(home, port);
  if (before !== null)
    io.stderr.write(
      `The port of this home is now ${port}, no longer ${before}: connect other harnesses again, \`tackroom doctor\` names them.\n`,
    );
  return port;
}

export async function connectHarness(options: ConnectCliOptions, io: CommandIo): Promise<number> {
  const { name } = connectorOf(options.harness);
  if (options.printEnv && name !== 'hermes')
    throw new TackroomError(
      'BAD_ARGUMENT',
      `${name} takes no address from its environment alone.`,
      `Use: tackroom connect ${name}`,
    );
  const { home } = openHome(defaultHome(options.home));
  const token = installToken(home);
  const port = await portOf(options, home, io);
  const target = { harness: name, root: options.root, dryRun: options.dryRun, port, token };
  const settings = gatewaySettings(target);
  if (options.printEnv) {
    io.stdout.write(hermesEnvironment(settings));
    return 0;
  }
  const contextTokens =
    options.context === undefined
      ? await servedContext(settings, options.model, (model) => findModel({ ...options, model }))
      : wholeNumber('--context', options.context, 1);
  return connectCommand({ ...target, contextTokens }, io);
}

export async function disconnectHarness(options: ConnectCliOptions, io: CommandIo): Promise<number> {
  return disconnectCommand({ harness: options.harness, root: options.root, dryRun: options.dryRun }, io);
}
