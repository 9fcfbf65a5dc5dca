/** A real gateway process, a server that wants a key, all three APIs: the key is on the wire to that server and nowhere else. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { setRoute } from '../../main/proxy/set-route.js';
import { RpcClient } from '../../main/services/rpc.js';
import { openStore } from '../../main/store/store.js';
import { exportSession, rawExport } from '../../main/trajectory/export-session.js';
import { Vault } from '../../main/vault/vault.js';
import { type Bundle, bundle } from '../record/bundle.js';
import { ask, http, type Reply } from './support.js';

const secret = (kind: string): string => `${kind}-${randomBytes(20).toString('hex')}`;
const [upstreamKey, harnessKey, passphrase] = [secret('sk-up'), secret('sk-own'), secret('pass')];

const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', stop_sequence: null };
const ANSWERS = {
  chat: {
    path: '/chat/completions',
    ask: { model: 'm', messages: ask('Hello there') },
    answer: {
      id: 'x',
      object: 'chat.completion',
      created: 1,
      model: 'm',
      choices: [{ index: 0, message: { role: 'assistant', content: 'Hi.' }, finish_reason: 'stop' }],
      usage,
    },
  },
  responses: {
    path: '/responses',
    ask: { model: 'm', input: 'Hello there' },
    answer: {
      id: 'resp_1',
      object: 'response',
      created_at: 1,
      model: 'm',
      status: 'completed',
      output: [
        {
          type: 'message',
          id: 'msg_1',
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text: 'Hi.', annotations: [] }],
        },
      ],
      usage: { input_tokens: 3, output_tokens: 2, total_tokens: 5 },
    },
  },
  messages: {
    path: '/messages',
    ask: { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'Hello there' }] },
    answer: {
      ...message,
      stop_reason: 'end_turn',
      content: [{ type: 'text', text: 'Hi.' }],
      usage: { input_tokens: 3, output_tokens: 2 },
    },
  },
} as const;
type Kind = keyof typeof ANSWERS;
type Respond = (kind: Kind, request: IncomingMessage, response: ServerResponse) => void;

const RESPONSES: Record<string, Respond> = {
  'a whole answer': (kind, _request, response) =>
    void response.setHeader('content-type', 'application/json').end(JSON.stringify(ANSWERS[kind].answer)),
  'a refusal that repeats the key': (_kind, { headers }, response) =>
    void response.writeHead(401, { 'content-type': 'application/json' }).end(
      JSON.stringify({
        error: { message: `Wrong key ${String(headers.authorization)} ${String(headers['x-api-key'])}` },
      }),
    ),
  'a page that repeats the headers': (_kind, { rawHeaders }, response) =>
    void response.writeHead(500, { 'content-type': 'text/html' }).end(`<pre>${rawHeaders.join('\n')}</pre>`),
  'a connection that breaks': (_kind, _request, response) => void response.socket?.destroy(),
};

let entry: Bundle;
let home: string;
let gateway: ChildProcess;
let port: number;
let said = '';
let server: Server;
let respond: Respond;
/** Keys that arrived at the server. */
let arrived: (string | undefined)[];

beforeAll(async () => {
  entry = await bundle('main/proxy/entry.ts', 'main/proxy/settle/thread.ts', 'main/proxy/settle/upkeep-thread.ts');
  home = mkdtempSync(join(tmpdir(), 'tackroom-secrecy-'));
  server = createServer((request, response) => {
    arrived.push(request.headers.authorization ?? (request.headers['x-api-key'] as string | undefined));
    const kind = (Object.keys(ANSWERS) as Kind[]).find((name) => request.url === `/v1${ANSWERS[name].path}`)!;
    request.resume().once('end', () => respond(kind, request, response));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const store = openStore(home);
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  await setRoute({ store, vault: new Vault(home) }, 'pi', { baseUrl }, upstreamKey);
  store.close();
  const socket = join(home, 'gateway.sock');
  gateway = spawn(process.execPath, [
    entry.file,
    '--home',
    home,
    '--socket',
    socket,
    '--engine',
    join(home, 'no-engine'),
  ]);
  for (const stream of [gateway.stdout!, gateway.stderr!])
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
  await vi.waitUntil(() => said.includes('"ready":true'), { timeout: 30_000 });
  port = (JSON.parse(said.split('\n')[0]!) as { port: number }).port;
}, 60_000);
afterAll(async () => {
  gateway.kill('SIGKILL');
  server.closeAllConnections();
  server.close();
  entry.remove();
  rmSync(home, { recursive: true, force: true });
});
beforeEach(() => {
  arrived = [];
});

/** As a harness does that has a key of its own beside ours. */
function post(kind: Kind, stream = false): Promise<Reply> {
  const token = readFileSync(join(home, 'token'), 'utf8').trim();
  const { path, ask: body } = ANSWERS[kind];
  return http({ port }, 'POST', `/pi/${token}/v1${path}?api_key=${harnessKey}`, JSON.stringify({ ...body, stream }), {
    authorization: `Bearer ${harnessKey}`,
    'x-api-key': harnessKey,
    cookie: `session=${harnessKey}`,
  });
}

/** Where one of `needles` stands: files of the home, what the process said, exports. */
function leaks(...needles: string[]): string[] {
  const store = openStore(home);
  const exports = store.session
    .list()
    .flatMap(({ id }) => [
      JSON.stringify(rawExport(store, id, 'native')),
      exportSession(store, id, { format: 'atif' }).text(),
    ]);
  store.close();
  const files = readdirSync(home, { recursive: true, encoding: 'utf8' })
    .filter((name) => statSync(join(home, name)).isFile())
    .map((name) => [name, readFileSync(join(home, name), 'latin1')] as const);
  return [...files, ['output', said] as const, ...exports.map((text) => ['export', text] as const)]
    .filter(([, text]) => needles.some((needle) => text.includes(needle)))
    .map(([name]) => name);
}

it.each(Object.keys(RESPONSES))('%s', async (what) => {
  respond = RESPONSES[what]!;
  for (const kind of Object.keys(ANSWERS) as Kind[])
    for (const stream of [false, true]) {
      const reply = await post(kind, stream);
      expect(reply.status === 200, `${kind} ${stream} ${reply.text}`).toBe(what === 'a whole answer');
      expect(reply.text).not.toContain(upstreamKey);
    }
  expect(new Set(arrived)).toEqual(new Set([`Bearer ${upstreamKey}`, upstreamKey]));
  expect(arrived).toHaveLength(6);
  expect(leaks(upstreamKey, harnessKey)).toEqual([]);
});

it('was looked for where it would be found', () => {
  const store = openStore(home);
  expect(store.request.count()).toBeGreaterThanOrEqual(6);
  store.close();
  expect(leaks('Hello there')).toEqual(expect.arrayContaining(['tackroom.db-wal', 'export']));
});

it('with a passphrase: nothing goes out before the gateway was given the key, then everything does', async () => {
  respond = RESPONSES['a whole answer']!;
  const vault = new Vault(home);
  await vault.protect({ kind: 'passphrase', passphrase });
  const rpc = new RpcClient(join(home, 'gateway.sock'), 'gateway');
  await rpc.call('routes.reload');
  const locked = await post('chat');
  expect([locked.status, arrived]).toEqual([403, []]);
  expect(locked.text).toContain('locked by a passphrase');
  await rpc.call('vault.unlock', { key: vault.handOver()!.toString('base64') });
  expect((await post('chat')).status).toBe(200);
  expect(arrived).toEqual([`Bearer ${upstreamKey}`]);
  rpc.close();
  gateway.kill('SIGTERM');
  await once(gateway, 'exit');
  expect(leaks(upstreamKey, harnessKey, passphrase, vault.handOver()!.toString('base64'))).toEqual([]);
});
