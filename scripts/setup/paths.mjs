// Where things of the set-up lie. Everything it makes is inside the checkout and ignored by git.
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
export const BUILD = join(ROOT, 'build');
export const LOGS = join(BUILD, 'logs');
export const STAMPS = join(BUILD, 'stamps');
export const TOOLS = join(BUILD, 'tools');
export const WINDOWS = process.platform === 'win32';

/** The log of one step. */
export const logFile = (step) => join(LOGS, `${step}.log`);
