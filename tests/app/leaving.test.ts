/** Ctrl-C of `serve`: who loses their model, and the offer to give them their own back. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { leaveHarnesses } from '../../main/cli/connected-harnesses.js';
import { connectNow } from '../../main/harness/connect-change.js';
import { connectedTo } from '../../main/harness/connected.js';
import { setRoute } from '../../main/proxy/set-route.js';
import { engineNeeded } from '../../main/services/engine-need.js';
import { openStore } from '../../main/store/store.js';
import { Vault } from '../../main/vault/vault.js';

const PORT = 4777;
const MINE = '{"theme":"dark"}\n';
let dir: string;
let before: NodeJS.ProcessEnv;
beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'tackroom-leaving-'));
  before = process.env;
  process.env = {
    ...before,
    HOME: dir,
    PI_CODING_AGENT_DIR: dir,
    HERMES_HOME: join(dir, 'hermes'),
    XDG_CONFIG_HOME: dir,
  };
  writeFileSync(join(dir, 'settings.json'), MINE);
  await connectNow({ harness: 'pi', port: PORT, token: 'tok-1' });
});
afterEach(() => {
  process.env = before;
  rmSync(dir, { recursive: true, force: true });
});

async function leave(answer: string | null, terminal = true): Promise<string> {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  Object.assign(stdin, { isTTY: terminal });
  if (answer !== null) stdin.write(answer);
  await leaveHarnesses(
    PORT,
    { stdin, stdout, stderr, interactive: terminal, signal: new AbortController().signal },
    300,
  );
  return String(stderr.read());
}
const connected = (): boolean => connectedTo(PORT).length > 0;

it('disconnects them when that is wanted', async () => {
  expect(await leave('y\n')).toMatch(/pi will have no model.*pi is as it was before/s);
  expect(connected()).toBe(false);
  expect(readFileSync(join(dir, 'settings.json'), 'utf8')).toBe(MINE);
});

it.each([
  ['no', 'n\n', true],
  ['another word', 'what?\n', true],
  ['nothing in time', null, true],
  ['nobody to ask', 'y\n', false],
])('leaves them as they are on %s, and says what that means', async (_what, answer, terminal) => {
  expect(await leave(answer, terminal)).toContain('pi has no model until the next `tackroom serve`');
  expect(connected()).toBe(true);
});

it('says what stands in the way, and ends all the same', async () => {
  const settings = readFileSync(join(dir, 'settings.json'), 'utf8');
  writeFileSync(join(dir, 'settings.json'), settings.replace('"dark"', '"dark","enabledModels":["tackroom/demo"]'));
  expect(await leave('y\n')).toContain('it would point at nothing');
  expect(connected()).toBe(true);
});

it('starts no engine for a gateway whose agents all have a server of their own', async () => {
  const store = openStore(join(dir, 'home'));
  expect(engineNeeded(store, PORT)).toBe(true);
  const change = { store, vault: new Vault(store.home) };
  await setRoute(change, 'pi', { baseUrl: 'http://127.0.0.1:1/v1' });
  expect(engineNeeded(store, PORT)).toBe(false);
  // Nobody is connected to this one: whoever will be may need it.
  expect(engineNeeded(store, PORT + 1)).toBe(true);
  store.close();
});
