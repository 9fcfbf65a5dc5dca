import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { gatewayPort, keepPort, knownPort } from '../../main/services/gateway-port.js';

let home: string;
const servers: Server[] = [];
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'tackroom-port-'));
});
afterEach(async () => {
  for (const server of servers.splice(0)) await new Promise((resolve) => server.close(resolve));
  rmSync(home, { recursive: true });
});

describe('the port of a home', () => {
  it('is chosen once and stays, also when another program takes it later', async () => {
    expect(knownPort(home)).toBeNull();
    const port = await gatewayPort(home);
    expect(port % 2).toBe(1);
    expect(port).toBeGreaterThanOrEqual(4141);
    expect(readFileSync(join(home, 'port'), 'utf8')).toBe(`${port}\n`);
    const server = createServer();
    servers.push(server);
    await new Promise<void>((resolve) => server.once('error', () => resolve()).listen(port, '127.0.0.1', resolve));
    expect(await gatewayPort(home)).toBe(port);
    const other = mkdtempSync(join(tmpdir(), 'tackroom-port-'));
    expect(await gatewayPort(other)).not.toBe(port);
    rmSync(other, { recursive: true });
  });

  it('is what was kept last', async () => {
    keepPort(home, 5151);
    keepPort(home, 6161);
    expect(await gatewayPort(home)).toBe(6161);
  });

  it.each(['', 'x', '0', '65536', '99999999999', '-1', '41.5'])(
    'is chosen anew where the file says %j',
    async (text) => {
      writeFileSync(join(home, 'port'), text);
      expect(knownPort(home)).toBeNull();
      expect(await gatewayPort(home)).toBeGreaterThanOrEqual(4141);
    },
  );
});
