import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { connectCommand } from '../../main/harness/connect.js';
import { hermesEnvironment } from '../../main/harness/connect-hermes.js';
import { HARNESS_NAMES } from '../../main/harness/connector.js';
import { jsonText } from '../../main/harness/json-text.js';
import { yamlText } from '../../main/harness/yaml-text.js';
import { EXISTING, Home, MAIN_FILE, run } from './connect-support.js';

const SYNTAX = { pi: jsonText, opencode: jsonText, hermes: yamlText };
const parse = (home: Home, name = MAIN_FILE[home.harness]) => SYNTAX[home.harness].parse(home.read(name));

describe.each(HARNESS_NAMES)('connecting %s', (harness) => {
  let home: Home;
  beforeEach(() => {
    home = new Home(harness);
  });
  afterEach(() => home.remove());
  const main = MAIN_FILE[harness];

  it('shows the change in a dry run and makes none', async () => {
    home.existing();
    const before = home.snapshot();
    const text = await home.connect({ dryRun: true });
    expect(text).toContain(`--- ${join(home.root, main)}\n+++ ${join(home.root, main)}\n@@`);
    expect(text).toContain('tok-1');
    expect(home.snapshot()).toEqual(before);
  });

  it('keeps all else, and disconnecting brings back every byte and right', async () => {
    home.existing();
    chmodSync(join(home.root, main), 0o644);
    const before = home.snapshot();
    await home.connect();
    expect(statSync(join(home.root, main)).mode & 0o777).toBe(0o600);
    expect(home.read(`${main}.tackroom-backup`)).toBe(EXISTING[harness][main]);
    await home.disconnect();
    expect(home.snapshot()).toEqual(before);
  });

  it('leaves nothing where there was nothing, blank files included', async () => {
    const nothing = home.snapshot();
    await home.connect();
    expect(home.snapshot().length).toBeGreaterThan(nothing.length);
    await home.disconnect();
    expect(home.snapshot()).toEqual(nothing);
    home.write(main, '\n');
    const blank = home.snapshot();
    await home.connect();
    expect(home.read(main)).toContain('demo');
    await home.disconnect();
    expect(home.snapshot()).toEqual(blank);
  });

  it('can be repeated with another port and token, and is still undone exactly', async () => {
    home.existing();
    const before = home.snapshot();
    await home.connect();
    const once = home.read(main);
    await home.connect();
    expect(home.read(main)).toBe(once);
    await home.connect({ port: 2, token: 'tok-2' });
    const all = home.snapshot().map(String).join('\n');
    expect(all).toContain(`http://127.0.0.1:2/${harness}/v1`);
    expect(home.read(main)).not.toContain('tok-1');
    await home.disconnect();
    expect(home.snapshot()).toEqual(before);
  });

  it('keeps CRLF and a byte order mark out of harm', async () => {
    const files = Object.fromEntries(
      Object.entries(EXISTING[harness]).map(([name, text]) => [name, `\uFEFF${text.replaceAll('\n', '\r\n')}`]),
    );
    home.existing(files);
    const before = home.snapshot();
    await home.connect();
    expect(home.read(main)).not.toMatch(/[^\r]\n/);
    expect(home.read(main).startsWith('\uFEFF')).toBe(true);
    await home.disconnect();
    expect(home.snapshot()).toEqual(before);
  });

  it('writes through a link', async () => {
    home.existing();
    renameSync(join(home.root, main), join(home.root, 'dotfile'));
    symlinkSync(join(home.root, 'dotfile'), join(home.root, main));
    await home.connect();
    expect(home.read('dotfile')).not.toBe(EXISTING[harness][main]);
    await home.disconnect();
    expect(home.read('dotfile')).toBe(EXISTING[harness][main]);
  });

  it.each([
    ['broken', '{ "a": [ }'],
    ['a list', '[1]'],
    ['a key twice', '{"a":1,"a":2}'],
    ['endless brackets', '['.repeat(100_000)],
    ['too long', `{"a": "${'x'.repeat(512_000)}"}`],
    ['not UTF-8', Buffer.from([0x7b, 0xff, 0x7d])],
  ])('leaves a file alone that is %s', async (_name, content) => {
    mkdirSync(join(home.root, main, '..'), { recursive: true });
    writeFileSync(join(home.root, main), content);
    const before = home.snapshot();
    await expect(home.connect()).rejects.toMatchObject({ code: 'REFUSED' });
    expect(home.snapshot()).toEqual(before);
  });

  it('has nothing to undo where it never was, and says so', async () => {
    home.existing();
    const before = home.snapshot();
    expect(await home.disconnect()).toContain('nothing to undo');
    expect(home.snapshot()).toEqual(before);
  });

  it('names the backups when its record was damaged, and changes nothing', async () => {
    home.existing();
    await home.connect();
    const record = join(home.root, main, '..', 'tackroom-connect.json');
    writeFileSync(record, readFileSync(record, 'utf8').slice(0, 40));
    const before = home.snapshot();
    await expect(home.disconnect()).rejects.toMatchObject({ code: 'REFUSED', hint: expect.stringContaining('backup') });
    await expect(home.connect()).rejects.toMatchObject({ code: 'REFUSED' });
    expect(home.snapshot()).toEqual(before);
  });
});

describe('what is written', () => {
  const homes: Home[] = [];
  const homeOf = (harness: Home['harness']): Home => {
    const home = new Home(harness);
    homes.push(home);
    home.existing();
    return home;
  };
  afterEach(() => {
    for (const home of homes.splice(0)) home.remove();
  });

  it('into pi', async () => {
    const home = homeOf('pi');
    await home.connect();
    expect(parse(home)).toEqual({ defaultProvider: 'tackroom', defaultModel: 'demo', theme: 'dark' });
    expect(parse(home, '.pi/agent/models.json').providers).toMatchObject({
      mine: {},
      tackroom: { baseUrl: 'http://127.0.0.1:1/pi/v1', api: 'openai-completions', apiKey: 'tok-1' },
    });
  });

  it('into opencode, where comments and formatting stay', async () => {
    const home = homeOf('opencode');
    await home.connect({ contextTokens: 20_000 });
    const text = home.read(MAIN_FILE.opencode);
    for (const line of EXISTING.opencode[MAIN_FILE.opencode]!.split('\n'))
      if (!line.includes('"model"')) expect(text).toContain(`${line}\n`);
    expect(text).toContain('\t/* the good one */ "model": "tackroom/demo", // keep\n');
    expect(parse(home)).toMatchObject({
      model: 'tackroom/demo',
      small_model: 'tackroom/demo',
      enabled_providers: ['other', 'tackroom'],
      provider: {
        other: {},
        tackroom: {
          options: { baseURL: 'http://127.0.0.1:1/opencode/v1', apiKey: 'tok-1' },
          models: { demo: { limit: { context: 20_000, output: 4096 } } },
        },
      },
    });
  });

  it('into hermes, where comments and order stay', async () => {
    const home = homeOf('hermes');
    expect(await home.connect({ contextTokens: 131_072 })).not.toContain('Note:');
    const text = home.read(MAIN_FILE.hermes);
    for (const line of EXISTING.hermes[MAIN_FILE.hermes]!.split('\n'))
      if (!/default|provider/.test(line)) expect(text).toContain(`${line}\n`);
    expect(text).toContain('    default: demo   # keep\n');
    expect(parse(home).model).toEqual({
      default: 'demo',
      provider: 'custom',
      base_url: 'http://127.0.0.1:1/hermes/v1',
      api_key: 'tok-1',
      context_length: 131_072,
      max_tokens: 4096,
    });
  });

  it('says what hermes does on a model that is too small for it', async () => {
    const home = homeOf('hermes');
    expect(await home.connect({ contextTokens: 2048 })).toMatch(/refuses models below 64,000 tokens.* holds 2,048/);
    expect(parse(home).model).toMatchObject({ context_length: 65_536, max_tokens: 512 });
  });

  it('into a short `model: NAME` of hermes', async () => {
    const home = homeOf('hermes');
    home.write(MAIN_FILE.hermes, 'model: some/name # short\nother: 1\n');
    await home.connect();
    expect(parse(home).model).toMatchObject({ default: 'demo', provider: 'custom' });
    home.write(MAIN_FILE.hermes, `${home.read(MAIN_FILE.hermes)}more: 2\n`);
    await home.disconnect();
    expect(parse(home)).toEqual({ model: 'some/name', other: 1, more: 2 });
  });

  it('nothing behind a YAML alias, which would change other places too', async () => {
    const home = homeOf('hermes');
    home.write(MAIN_FILE.hermes, 'base: &b {default: x}\nmodel: *b\n');
    await expect(home.connect()).rejects.toMatchObject({ code: 'REFUSED' });
  });

  it('into the file that opencode reads last, also when that is another one later', async () => {
    const home = homeOf('opencode');
    home.existing({ '.config/opencode/config.json': '{"a":1}', '.config/opencode/opencode.json': '{"b":2}\n' });
    rmSync(join(home.root, MAIN_FILE.opencode));
    await home.connect();
    expect(home.read('.config/opencode/config.json')).toBe('{"a":1}');
    expect(home.read('.config/opencode/opencode.json')).toContain('tackroom');
    home.write(MAIN_FILE.opencode, '{}');
    await home.connect();
    expect(home.read('.config/opencode/opencode.json')).toBe('{"b":2}\n');
    expect(home.read(MAIN_FILE.opencode)).toContain('tackroom');
    await home.disconnect();
    expect(home.read(MAIN_FILE.opencode)).toBe('{}');
    expect(existsSync(join(home.root, '.config/opencode/tackroom-connect.json'))).toBe(false);
  });

  it('as variables for hermes, quoted for a shell, the token in the path', () => {
    const text = hermesEnvironment({
      baseUrl: 'http://127.0.0.1:4141/hermes/v1',
      modelId: "it's",
      token: 'tok-1',
      contextTokens: null,
    });
    expect(text).toContain("export CUSTOM_BASE_URL='http://127.0.0.1:4141/hermes/tok-1/v1'\n");
    expect(text).toContain(`export HERMES_INFERENCE_MODEL='it'\\''s'\n`);
  });
});

describe('the test call', () => {
  let home: Home;
  beforeEach(() => {
    home = new Home('pi');
  });
  afterEach(() => home.remove());
  const at = async (status: number, body: string): Promise<{ port: number; seen: string[]; close(): void }> => {
    const seen: string[] = [];
    const server = createServer((request, response) => {
      seen.push(`${request.method} ${request.url} ${request.headers.authorization}`);
      request.resume().on('end', () => response.writeHead(status).end(body));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return { port: (server.address() as AddressInfo).port, seen, close: () => void server.close() };
  };
  const connect = (port: number, code: number) =>
    run((io) => connectCommand({ harness: 'pi', root: home.root, port, token: 'tok-1' }, io), code);

  it('goes to the address of the harness with its token', async () => {
    const server = await at(200, '{}');
    expect(await connect(server.port, 0)).toMatch(/test call arrived and was answered in \d+ ms/);
    expect(server.seen).toEqual(['POST /pi/v1/chat/completions Bearer tok-1']);
    server.close();
  });
  it('says that no gateway runs and what to start', async () => {
    expect(await connect(1, 0)).toContain('Start it: tackroom serve');
  });
  it('tells a stranger from the gateway', async () => {
    const server = await at(401, '');
    expect(await connect(server.port, 1)).toContain('not the gateway of this home');
    server.close();
  });
  it('tells a server behind the gateway, which refuses its key, from a stranger', async () => {
    const server = createServer((request, response) => {
      const known = request.headers.authorization === 'Bearer tok-1';
      // A path that the gateway does not serve: past the token there is nothing.
      const status = known && request.url === '/v1/tackroom' ? 404 : 401;
      request.resume().on('end', () => response.writeHead(status).end('{"error":{"message":"Their key is wrong."}}'));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    expect(await connect((server.address() as AddressInfo).port, 1)).toContain('Their key is wrong.');
    server.close();
  });
  it('passes on why there was no answer', async () => {
    const server = await at(503, '{"error":{"message":"The model is loading."}}');
    expect(await connect(server.port, 1)).toContain('The model is loading.');
    server.close();
  });
});
