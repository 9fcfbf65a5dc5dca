/** `tackroom connect`, `disconnect` and `doctor` together, with one home and the harnesses of one user. */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ConnectCliOptions, connectHarness, disconnectHarness } from '../../main/cli/connect.js';
import { checkConnections, runningGateway } from '../../main/cli/doctor/connection-checks.js';
import { connectedTo } from '../../main/harness/connected.js';
import { knownPort } from '../../main/services/gateway-port.js';
import { type Rig, startRig } from '../proxy/support.js';

let rig: Rig;
let root: string;
beforeEach(async () => {
  rig = await startRig();
  root = mkdtempSync(join(tmpdir(), 'tackroom-root-'));
});
afterEach(async () => {
  await rig.close();
  rmSync(root, { recursive: true });
});

async function run(
  command: typeof connectHarness,
  options: Partial<ConnectCliOptions> & { harness: string },
): Promise<{ code: number; text: string }> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const io = { stdin: process.stdin, stdout, stderr, interactive: false, signal: new AbortController().signal };
  const code = await command({ home: rig.home, root, ...options }, io);
  return { code, text: `${stdout.read() ?? ''}${stderr.read() ?? ''}` };
}
const connect = (harness: string, more: Partial<ConnectCliOptions> = {}) => run(connectHarness, { harness, ...more });
const checked = (home = rig.home) => checkConnections(home, root);

describe('doctor on connections', () => {
  it('is content without any, and with one that reaches its gateway', async () => {
    expect(await checked()).toMatchObject({ status: 'ok', detail: 'no harness is connected', hint: '' });
    const { code, text } = await connect('pi', { port: String(rig.port) });
    expect(text).toContain('A test call arrived');
    expect(code).toBe(0);
    expect(knownPort(rig.home)).toBe(rig.port);
    expect(await runningGateway(rig.home)).toBe(rig.port);
    expect(await checked()).toMatchObject({
      status: 'ok',
      detail: `pi reaches the gateway at port ${rig.port}`,
      hint: '',
    });
    // Without --port from now on.
    expect((await connect('opencode')).text).toContain('A test call arrived');
    expect(connectedTo(rig.port, { root, env: {} })).toEqual(['pi', 'opencode']);
    await run(disconnectHarness, { harness: 'pi' });
    expect((await checked()).detail).toBe(`opencode reaches the gateway at port ${rig.port}`);
  });

  it('finds a port that is no longer the one of this home', async () => {
    await connect('pi', { port: String(rig.port) });
    const { text } = await connect('hermes', { port: '1' });
    expect(text).toContain(`now 1, no longer ${rig.port}`);
    expect(await checked()).toMatchObject({
      status: 'warning',
      detail: expect.stringContaining(`pi calls port ${rig.port}, this home's gateway listens at 1`),
      hint: expect.stringContaining('tackroom connect pi'),
    });
  });

  it('finds a gateway that does not run, and another program in its place', async () => {
    await connect('pi', { port: '1' });
    expect(await checked()).toMatchObject({
      status: 'warning',
      detail: 'pi calls port 1, where no gateway runs',
      hint: expect.stringContaining('tackroom serve'),
    });
    const other = await startRig();
    await connect('pi', { port: String(other.port) });
    expect((await checked()).detail).toBe(`pi calls port ${other.port}, where another program answers`);
    await other.close();
  });

  it('finds the token of another home', async () => {
    await connect('pi', { port: String(rig.port) });
    const other = await startRig();
    expect((await checked(other.home)).detail).toContain('token of another home');
    await other.close();
  });

  it('finds settings that were changed by hand, and files that cannot be read', async () => {
    await connect('opencode', { port: String(rig.port) });
    const dir = join(root, '.config', 'opencode');
    writeFileSync(join(dir, 'opencode.json'), '{"model": "other/x"}');
    expect((await checked()).detail).toContain('no longer say so');
    writeFileSync(join(dir, 'opencode.json'), '{');
    expect(await checked()).toMatchObject({ status: 'warning', detail: expect.stringContaining('opencode: ') });
    mkdirSync(join(root, '.hermes'));
    writeFileSync(join(root, '.hermes', 'tackroom-connect.json'), 'x');
    expect((await checked()).detail).toContain('hermes: ');
  });
});

describe('connect on the command line', () => {
  it('prints variables for hermes alone, and changes nothing', async () => {
    const { code, text } = await connect('hermes', { printEnv: true, port: '4242' });
    expect(code).toBe(0);
    expect(text).toContain(`export CUSTOM_BASE_URL='http://127.0.0.1:4242/hermes/${rig.token}/v1'`);
    expect(knownPort(rig.home)).toBeNull();
    await expect(connect('pi', { printEnv: true })).rejects.toMatchObject({ code: 'BAD_ARGUMENT' });
  });
  it('takes the context from --context, else from the files of --model', async () => {
    expect((await connect('hermes', { port: '1', context: '8192', dryRun: true })).text).toContain('holds 8,192');
    const model = join(root, 'model');
    mkdirSync(model);
    await expect(connect('hermes', { port: '1', model, dryRun: true })).rejects.toMatchObject({
      code: expect.any(String),
    });
  });
  it('changes nothing where there is no harness, unless it was told where its home is', async () => {
    const before = { PATH: process.env.PATH, HOME: process.env.HOME };
    Object.assign(process.env, { PATH: '', HOME: root });
    try {
      await expect(connect('hermes', { root: undefined, port: '1' })).rejects.toMatchObject({
        code: 'HARNESS_MISSING',
      });
      expect(readdirSync(root)).toEqual([]);
      mkdirSync(join(root, '.hermes'));
      expect((await connect('hermes', { root: undefined, port: '1' })).text).toContain('No hermes was found');
    } finally {
      Object.assign(process.env, before);
    }
  });
  it('takes the context from the one model that the gateway lists', async () => {
    const list = (...data: object[]) =>
      new Promise<{ port: number; close(): void }>((resolve) => {
        const server = createServer((_request, response) => response.end(JSON.stringify({ data })));
        server.listen(0, '127.0.0.1', () =>
          resolve({ port: (server.address() as { port: number }).port, close: () => void server.close() }),
        );
      });
    const context = async (...data: object[]): Promise<string> => {
      const { port, close } = await list(...data);
      const { text } = await connect('opencode', { port: String(port), dryRun: true });
      close();
      return /"context": (\d+)/.exec(text)?.[1] ?? '';
    };
    expect(await context({ id: 'far/model', max_model_len: 40_960 })).toBe('40960');
    expect(await context({ id: 'far/model', context_length: 50_000 })).toBe('50000');
    expect(await context({ id: 'far/model' })).toBe('32768');
    expect(await context({ id: 'far/model', max_model_len: -1 })).toBe('32768');
    expect(await context({ id: 'a', max_model_len: 99_999 }, { id: 'b' })).toBe('32768');
  });
  it('knows what it can connect', async () => {
    await expect(connect('cursor')).rejects.toMatchObject({
      code: 'BAD_ARGUMENT',
      hint: expect.stringContaining('hermes'),
    });
  });
});
