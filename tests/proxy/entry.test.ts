import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { addPlugin } from '../../main/guard/installed-plugins.js';
import { changeGuardSettings } from '../../main/guard/settings.js';
import type { GatewayStatus } from '../../main/proxy/protocol.js';
import { RpcClient } from '../../main/services/rpc.js';
import { openStore } from '../../main/store/store.js';
import { type Bundle, bundle } from '../record/bundle.js';
import { type FakeEngine, startFakeEngine } from './fake-engine.js';
import { strictAnswer } from './strict-sse.js';
import { ask, BASH, http } from './support.js';

let entry: Bundle;
let home: string;
let engine: FakeEngine;
let children: ChildProcess[];
beforeAll(async () => {
  entry = await bundle('main/proxy/entry.ts', 'main/proxy/settle/thread.ts', 'main/proxy/settle/upkeep-thread.ts');
}, 60_000);
afterAll(() => entry.remove());
beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'tackroom-gateway-'));
  engine = await startFakeEngine(home);
  children = [];
});
afterEach(async () => {
  for (const child of children) child.kill('SIGKILL');
  await engine.close();
  rmSync(home, { recursive: true, force: true });
});

const socketPath = (): string => join(home, 'gateway.sock');

function start(port: number, stdio: ('ignore' | 'pipe' | 'ipc')[]): ChildProcess {
  const args = [entry.file, '--home', home, '--socket', socketPath(), '--engine', engine.path, '--port', `${port}`];
  const child = spawn(process.execPath, args, { stdio });
  children.push(child);
  return child;
}

const line = (child: ChildProcess, from: 'stdout' | 'stderr'): Promise<Record<string, unknown>> =>
  new Promise((resolve) => {
    let text = '';
    child[from]!.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      if (text.includes('\n')) resolve(JSON.parse(text.split('\n')[0]!) as Record<string, unknown>);
    });
  });
const ended = (child: ChildProcess): Promise<number | null> => new Promise((resolve) => child.once('exit', resolve));

it('serves, guards with the real rules, broadcasts, and ends cleanly on SIGTERM', async () => {
  const child = start(0, ['ignore', 'pipe', 'inherit' as 'ignore']);
  const { port } = (await line(child, 'stdout')) as { ready: true; port: number };
  const rpc = new RpcClient(socketPath(), 'gateway');
  await rpc.connect();
  const events: unknown[] = [];
  rpc.on('recorded', (event) => events.push(event));
  engine.script({
    calls: [
      { name: 'undeclared', arguments: '{}' },
      { name: 'bash', arguments: '{"command":"ls"}' },
    ],
  });
  const token = readFileSync(join(home, 'token'), 'utf8').trim();
  const body = JSON.stringify({ model: 'm', messages: ask('List the files.'), tools: [BASH], stream: true });
  const reply = await http({ port }, 'POST', `/pi/${token}/v1/chat/completions`, body);
  expect(strictAnswer(reply.text)).toMatchObject({
    text: expect.stringMatching(/^\[tackroom\] blocked call to `undeclared`: /) as string,
    toolCalls: [{ name: 'bash' }],
    finish: 'tool_calls',
  });
  expect(await rpc.call<GatewayStatus>('status')).toMatchObject({ port, pid: child.pid, sessions: 1, requests: 1 });
  expect(events).toMatchObject([{ origin: 'user', blocked: 1 }]);
  await expect(rpc.call('worker.end', { worker: 'none' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  rpc.close();
  child.kill('SIGTERM');
  expect(await ended(child)).toBe(0);
  expect(existsSync(socketPath())).toBe(false);
  const store = openStore(home);
  expect(store.request.list()).toHaveLength(1);
  store.close();
});

it('judges as the store says at that moment: plugins, the engine as judge, harmless calls; and takes its plugins along when it ends', async () => {
  const child = start(0, ['ignore', 'pipe', 'inherit' as 'ignore']);
  const { port } = (await line(child, 'stdout')) as { port: number };
  const token = readFileSync(join(home, 'token'), 'utf8').trim();
  const ask = async (command: string, ...more: Parameters<FakeEngine['script']>) => {
    engine.script({ calls: [{ name: 'bash', arguments: JSON.stringify({ command }) }] }, ...more);
    const messages = [{ role: 'user', content: `Please: ${command}` }];
    const body = JSON.stringify({ model: 'm', messages, tools: [BASH], stream: true });
    const reply = await http({ port }, 'POST', `/pi/${token}/v1/chat/completions`, body);
    return strictAnswer(reply.text);
  };
  const store = openStore(home);
  expect(await ask('own-word')).toMatchObject({ toolCalls: [{ arguments: '{"command":"own-word"}' }] });
  const module = join(home, 'own.mjs');
  writeFileSync(module, "export const rules = [{ id: 'own.word', severity: 'high', pattern: /own-word/ }];");
  await addPlugin(store, module);
  expect(await ask('own-word')).toMatchObject({ toolCalls: [], finish: 'stop' });
  changeGuardSettings(store, (settings) => ({ ...settings, blocked: 'harmless' }));
  expect((await ask('own-word')).toolCalls[0]!.arguments).toContain('exit 126');
  changeGuardSettings(store, (settings) => ({
    ...settings,
    judge: { baseUrl: null, model: '', deadlineMs: 10_000 },
  }));
  const judged = await ask('git fsck', { text: ['{"block": true, "reason": "nobody asked"}'] });
  expect(judged.toolCalls[0]!.arguments).toContain('the judge: nobody asked');
  expect(store.verdict.list({ limit: 1 })[0]).toMatchObject({ stage: 3, verdict: 'block' });
  store.close();
  child.kill('SIGTERM');
  expect(await ended(child)).toBe(0);
});

it('has recorded every answer it gave when it is killed', async () => {
  const child = start(0, ['ignore', 'pipe', 'inherit' as 'ignore']);
  const { port } = (await line(child, 'stdout')) as { port: number };
  const token = readFileSync(join(home, 'token'), 'utf8').trim();
  const answered: string[] = [];
  for (let i = 0; ; i++) {
    const body = JSON.stringify({ model: 'm', messages: ask(`Question ${i}`), tools: [BASH], stream: true });
    const reply = await http({ port }, 'POST', '/v1/chat/completions', body, { 'x-api-key': token }).catch(() => null);
    if (reply === null || !reply.text.endsWith('data: [DONE]\n\n')) break;
    if (i === 0) setTimeout(() => child.kill('SIGKILL'), 300);
    answered.push(strictAnswer(reply.text).id);
  }
  const store = openStore(home);
  expect(answered.length).toBeGreaterThan(0);
  for (const id of answered) expect(store.request.get(id.replace('chatcmpl-', ''))).toMatchObject({ status: 'ok' });
  store.close();
});

it('records what was open when it is told to end', async () => {
  const child = start(0, ['ignore', 'pipe', 'inherit' as 'ignore']);
  const { port } = (await line(child, 'stdout')) as { port: number };
  engine.script({ text: ['Long'], pauseMs: 10_000 });
  const token = readFileSync(join(home, 'token'), 'utf8').trim();
  const open = http({ port }, 'POST', '/v1/chat/completions', JSON.stringify({ model: 'm', messages: ask('Hi') }), {
    'x-api-key': token,
  }).catch((error: unknown) => error);
  while (engine.asked.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
  child.kill('SIGTERM');
  expect(await ended(child)).toBe(0);
  expect(await open).toBeInstanceOf(Error);
  const store = openStore(home);
  expect(store.request.list()).toMatchObject([{ status: 'cancelled' }]);
  store.close();
});

it.each(['ipc', 'pipe'] as const)('ends when its parent goes (%s)', async (link) => {
  const child = link === 'ipc' ? start(0, ['ignore', 'pipe', 'ignore', 'ipc']) : start(0, ['pipe', 'pipe', 'ignore']);
  await line(child, 'stdout');
  if (link === 'ipc') child.disconnect();
  else child.stdin!.end();
  expect(await ended(child)).toBe(0);
});

it('says when the port is taken', async () => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  const child = start((other.address() as { port: number }).port, ['ignore', 'ignore', 'pipe']);
  const [error, code] = await Promise.all([line(child, 'stderr'), ended(child)]);
  other.close();
  expect(code).toBe(1);
  expect(error).toMatchObject({
    code: 'PORT_IN_USE',
    message: expect.stringContaining('in use') as string,
    hint: expect.any(String) as string,
  });
});
