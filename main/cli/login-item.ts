/** `tackroom login-item`: the gateway alone, started at login. */
import { join } from 'node:path';
import { TackroomError } from '../../contract/errors.js';
import { packageRoot } from '../../native/addon.js';
import { fileLoginItem, type LoginItem } from '../services/login-item.js';
import { defaultHome, openHome } from '../services/paths.js';
import type { GlobalOptions } from './context.js';
import type { CommandIo } from './io.js';

/** Of the command line as it is installed here, with the home that is meant now: a session at login has no TACKROOM_HOME. */
export const cliLoginItem = (home: string): LoginItem | null =>
  fileLoginItem([
    process.execPath,
    join(packageRoot(), 'bin', 'tackroom.mjs'),
    '--home',
    home,
    'serve',
    '--gateway-only',
  ]);

export async function loginItemCommand(
  options: GlobalOptions & { what: string; json?: boolean },
  io: CommandIo,
): Promise<number> {
  const item = cliLoginItem(openHome(defaultHome(options.home)).home);
  if (!item)
    throw new TackroomError('UNSUPPORTED', 'On Windows the desktop app alone can do this.', 'Open it, under Connect.');
  if (options.what === 'on' || options.what === 'off') item.set(options.what === 'on');
  else if (options.what !== 'status')
    throw new TackroomError('BAD_ARGUMENT', 'A login item is on or off.', 'For example: tackroom login-item on');
  const on = item.isOn();
  if (options.json) io.stdout.write(`${JSON.stringify({ on, place: item.place })}\n`);
  else
    io.stdout.write(
      on ? `The gateway starts at login: ${item.place}\n` : 'The gateway starts when you start it: tackroom serve\n',
    );
  return 0;
}
