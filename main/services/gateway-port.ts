/** The one port of this home's gateway: harnesses have it in their settings, so it must not change by itself. */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';

const DEFAULT_PORT = 4141;
/** The window's port lies between two of them. */
const STEP = 2;
const TRIED = 50;

const fileOf = (home: string): string => join(home, 'port');

/** null: none was chosen yet, or the file was damaged. Makes nothing. */
export function knownPort(home: string): number | null {
  try {
    const text = readFileSync(fileOf(home), 'utf8').trim();
    const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
    return port >= 1 && port <= 65_535 ? port : null;
  } catch {
    return null;
  }
}

/** From now on the port of this home, whose folder exists. */
export function keepPort(home: string, port: number): void {
  const partial = `${fileOf(home)}.${process.pid}.partial`;
  writeFileSync(partial, `${port}\n`, { mode: 0o600 });
  renameSync(partial, fileOf(home));
}

export function portFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

/** The port of this home; the first time, the first free one from 4141 on, which is kept. */
export async function gatewayPort(home: string): Promise<number> {
  const known = knownPort(home);
  if (known !== null) return known;
  let port = DEFAULT_PORT;
  for (let i = 0; i < TRIED && !(await portFree(port)); i++) port += STEP;
  keepPort(home, port);
  return port;
}
