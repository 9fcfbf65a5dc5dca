/** `tackroom connect|disconnect NAME`: with the token of this home. */
import { TackroomError } from '../../contract/errors.js';
import { connectCommand, disconnectCommand } from '../harness/connect.js';
import { installToken } from '../proxy/token.js';
import { defaultHome, openHome } from '../services/paths.js';
import type { GlobalOptions } from './context.js';
import type { CommandIo } from './io.js';

export interface ConnectCliOptions extends GlobalOptions {
  harness: string;
  dryRun?: boolean;
  root?: string;
  port: string;
}

export async function connectHarness(options: ConnectCliOptions, io: CommandIo): Promise<number> {
  const port = Number(options.port);
  if (!Number.isInteger(port) || port < 1 || port > 65535)
    throw new TackroomError(
      'BAD_ARGUMENT',
      `${options.port} is no port.`,
      'Give the port of `tackroom serve`, 4141 by default.',
    );
  const { home } = openHome(defaultHome(options.home));
  return connectCommand({ ...options, port, token: installToken(home) }, io);
}

export async function disconnectHarness(options: ConnectCliOptions, io: CommandIo): Promise<number> {
  return disconnectCommand(options, io);
}
