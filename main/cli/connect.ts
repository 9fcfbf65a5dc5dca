/** `tackroom connect|disconnect NAME`: with the token of this home. */
import { connectCommand, disconnectCommand } from '../harness/connect.js';
import { installToken } from '../proxy/token.js';
import { defaultHome, openHome } from '../services/paths.js';
import type { GlobalOptions } from './context.js';
import type { CommandIo } from './io.js';
import { wholeNumber } from './numbers.js';

export interface ConnectCliOptions extends GlobalOptions {
  harness: string;
  dryRun?: boolean;
  root?: string;
  port: string;
}

export async function connectHarness(options: ConnectCliOptions, io: CommandIo): Promise<number> {
  const port = wholeNumber('--port', options.port, 1, 65_535);
  const { home } = openHome(defaultHome(options.home));
  return connectCommand({ ...options, port, token: installToken(home) }, io);
}

export async function disconnectHarness(options: ConnectCliOptions, io: CommandIo): Promise<number> {
  return disconnectCommand(options, io);
}
