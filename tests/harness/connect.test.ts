import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ConnectOptions, connectCommand, disconnectCommand } from '../../main/harness/connect.js';
import { findPi } from '../../main/harness/find-pi.js';

const pi = await findPi().catch(() => null);
const MODELS =
  '{\n    "providers": {\n        "mine": { "baseUrl": "http://localhost:1/v1", "note": "\u00e9\u2713" }\n    }\n}';
const SETTINGS = '{"defaultProvider":"mine","defaultModel":"big","theme":"dark"}\n';

describe('connecting pi', () => {
  let root: string;
  let dir: string;
  const options = (more: Partial<ConnectOptions> = {}): ConnectOptions => ({
    harness: 'pi',
    root,
    port: 4141,
    token: 'tok-1',
    ...more,
  });
  const run = async (command: (io: { stdout: PassThrough }) => Promise<number>): Promise<string> => {
    const stdout = new PassThrough();
    expect(await command({ stdout })).toBe(0);
    return (stdout.read() as Buffer | null)?.toString() ?? '';
  };
  const connect = (more: Partial<ConnectOptions> = {}) => run((io) => connectCommand(options(more), io));
  const disconnect = (dryRun = false) => run((io) => disconnectCommand({ harness: 'pi', root, dryRun }, io));
  const read = (name: string) => readFileSync(join(dir, name), 'utf8');
  const json = (name: string) => JSON.parse(read(name)) as Record<string, Record<string, unknown>>;
  /** Every file below the root with its bytes and permissions. */
  const snapshot = () =>
    readdirSync(root, { recursive: true, encoding: 'utf8' })
      .sort()
      .map((name) => {
        const info = statSync(join(root, name));
        return [name, info.mode & 0o777, info.isFile() ? readFileSync(join(root, name), 'hex') : 'folder'];
      });

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'tackroom-connect-'));
    dir = join(root, '.pi', 'agent');
  });
  afterEach(() => rmSync(root, { recursive: true }));
  const existing = (): void => {
    mkdirSync(join(dir, 'sessions'), { recursive: true });
    writeFileSync(join(dir, 'models.json'), MODELS);
    chmodSync(join(dir, 'models.json'), 0o644);
    writeFileSync(join(dir, 'settings.json'), SETTINGS);
  };

  it('shows the change in a dry run and makes none', async () => {
    existing();
    const before = snapshot();
    const text = await connect({ dryRun: true });
    expect(text).toContain(`--- ${dir}/models.json`);
    expect(text).toMatch(/^\+ {8}"tackroom": \{$/m);
    expect(text).toMatch(/^\+ *"defaultProvider": ?"tackroom"/m);
    expect(snapshot()).toEqual(before);
  });

  it('keeps all else, and disconnecting brings back every byte and right', async () => {
    existing();
    const before = snapshot();
    await connect();
    expect(json('models.json').providers).toHaveProperty('mine');
    expect(json('models.json').providers?.tackroom).toMatchObject({
      baseUrl: 'http://127.0.0.1:4141/pi/v1',
      api: 'openai-completions',
      apiKey: 'tok-1',
    });
    expect(json('settings.json')).toEqual({ defaultProvider: 'tackroom', defaultModel: 'demo', theme: 'dark' });
    expect(read('models.json.tackroom-backup')).toBe(MODELS);
    expect(statSync(join(dir, 'models.json')).mode & 0o777).toBe(0o600);
    await disconnect();
    expect(snapshot()).toEqual(before);
  });

  it('leaves nothing where there was nothing', async () => {
    const before = snapshot();
    await connect();
    expect(existsSync(join(dir, 'models.json'))).toBe(true);
    await disconnect();
    expect(snapshot()).toEqual(before);
  });

  it('can be repeated with another port, and is still undone exactly', async () => {
    existing();
    const before = snapshot();
    await connect();
    await connect({ port: 5151, token: 'tok-2' });
    expect(json('models.json').providers?.tackroom).toMatchObject({
      baseUrl: 'http://127.0.0.1:5151/pi/v1',
      apiKey: 'tok-2',
    });
    await disconnect();
    expect(snapshot()).toEqual(before);
  });

  it('keeps what was edited in between, also across a second connect', async () => {
    existing();
    await connect();
    const edited = json('models.json');
    edited.providers = { ...edited.providers, later: { baseUrl: 'x' } };
    writeFileSync(join(dir, 'models.json'), JSON.stringify(edited));
    await connect();
    await disconnect();
    expect(Object.keys(json('models.json').providers ?? {})).toEqual(['mine', 'later']);
    expect(read('settings.json')).toBe(SETTINGS);
    expect(readdirSync(dir).sort()).toEqual(['models.json', 'sessions', 'settings.json']);
  });

  it('does not touch a default the user chose after connecting', async () => {
    existing();
    await connect();
    writeFileSync(join(dir, 'settings.json'), '{"defaultProvider":"other","defaultModel":"x"}');
    await disconnect();
    expect(read('settings.json')).toBe('{"defaultProvider":"other","defaultModel":"x"}');
  });

  it('writes through a link', async () => {
    mkdirSync(dir, { recursive: true });
    writeFileSync(join(root, 'dotfile.json'), MODELS);
    symlinkSync(join(root, 'dotfile.json'), join(dir, 'models.json'));
    await connect();
    expect(JSON.parse(readFileSync(join(root, 'dotfile.json'), 'utf8')).providers).toHaveProperty('tackroom');
    await disconnect();
    expect(readFileSync(join(root, 'dotfile.json'), 'utf8')).toBe(MODELS);
  });

  it('leaves files alone that it cannot write back whole', async () => {
    existing();
    writeFileSync(join(dir, 'models.json'), '{ // comment\n}');
    const before = snapshot();
    await expect(connect()).rejects.toMatchObject({ code: 'REFUSED' });
    expect(snapshot()).toEqual(before);
  });

  it('has nothing to undo where it never was, and says so', async () => {
    existing();
    const before = snapshot();
    expect(await disconnect()).toContain('nothing to undo');
    expect(snapshot()).toEqual(before);
    await expect(connect({ harness: 'hermes' })).rejects.toMatchObject({ code: 'UNSUPPORTED' });
  });

  it.skipIf(!pi)(
    'is understood by the real pi (needs the installed pi)',
    async () => {
      existing();
      await connect();
      const text = execFileSync(pi!.node, [pi!.cli, '--list-models', 'tackroom'], {
        env: { PATH: process.env.PATH, HOME: root, PI_CODING_AGENT_DIR: dir, PI_OFFLINE: '1', PI_TELEMETRY: '0' },
        cwd: root,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      expect(text).toMatch(/tackroom\s+demo/);
    },
    60_000,
  );
});
