/** What the user leaves out, through a whole gateway process. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { changeRecordingSettings, lastSweep } from '../../main/record/settings.js';
import { workspaceOf } from '../../main/record/workspace/workspace-store.js';
import { openStore, type Store } from '../../main/store/store.js';
import { type Bundle, bundle } from '../record/bundle.js';
import { type FakeEngine, startFakeEngine } from './fake-engine.js';
import { strictAnswer } from './strict-sse.js';
import { BASH, http } from './support.js';

let entry: Bundle;
let home: string;
let engine: FakeEngine;
let store: Store;
let gateway: ReturnType<typeof spawn>;
let port: number;
let project: string;
beforeAll(async () => {
  entry = await bundle('main/proxy/entry.ts', 'main/proxy/settle/thread.ts', 'main/proxy/settle/upkeep-thread.ts');
  home = realpathSync(mkdtempSync(join(tmpdir(), 'tackroom-recording-')));
  project = join(home, 'project');
  mkdirSync(project);
  const git = (...args: string[]): unknown => execFileSync('git', args, { cwd: project, stdio: 'ignore' });
  git('init', '-q', '-b', 'trunk');
  writeFileSync(join(project, 'a.txt'), 'one\n');
  git('add', '.');
  engine = await startFakeEngine(home);
  store = openStore(home);
  const args = ['--home', home, '--socket', join(home, 'g.sock'), '--engine', engine.path, '--port', '0'];
  gateway = spawn(process.execPath, [entry.file, ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
  const [line] = (await once(gateway.stdout!, 'data')) as [Buffer];
  port = (JSON.parse(line.toString()) as { port: number }).port;
}, 60_000);
afterAll(async () => {
  gateway.kill('SIGTERM');
  await once(gateway, 'exit');
  store.close();
  await engine.close();
  entry.remove();
  rmSync(home, { recursive: true, force: true });
});

async function asks(text: string, cwd: string): Promise<ReturnType<typeof strictAnswer>> {
  const token = readFileSync(join(home, 'token'), 'utf8').trim();
  const messages = [
    { role: 'system', content: `Current working directory: ${cwd}` },
    { role: 'user', content: text },
  ];
  const body = JSON.stringify({ model: 'm', messages, tools: [BASH], stream: true });
  return strictAnswer((await http({ port }, 'POST', `/hermes/${token}/v1/chat/completions`, body)).text);
}

it('answers and guards what is not recorded, and leaves no byte of it', async () => {
  changeRecordingSettings(store, (settings) => ({ ...settings, paused: { until: null } }));
  engine.script({ text: ['narwhal'], calls: [{ name: 'undeclared', arguments: '{"x":"narwhal"}' }] });
  const answer = await asks('Where is the narwhal?', project);
  expect(answer.text).toMatch(/narwhal.*\[tackroom\] blocked call to `undeclared`/s);
  expect(store.session.count() + store.request.count()).toBe(0);
  for (const name of readdirSync(home).filter((file) => statSync(join(home, file)).isFile()))
    expect([name, readFileSync(join(home, name)).includes('narwhal')]).toEqual([name, false]);
  changeRecordingSettings(store, (settings) => ({ ...settings, paused: null }));
});

it('leaves out what began during a pause and ended after it', async () => {
  changeRecordingSettings(store, (settings) => ({ ...settings, paused: { until: null } }));
  engine.script({ text: ['Late'], pauseMs: 500 }, {});
  const answer = asks('Begun in a pause', project);
  await expect.poll(() => engine.asked.at(-1)?.messages).toContainEqual({ role: 'user', content: 'Begun in a pause' });
  changeRecordingSettings(store, (settings) => ({ ...settings, paused: null }));
  expect((await answer).text).toBe('Late');
  expect(store.session.count() + store.request.count()).toBe(0);
});

it('captures the working directory of a session that begins, with consent only', async () => {
  await asks('Without consent', project);
  expect(workspaceOf(store, store.session.list({ limit: 1 })[0]!.id)).toBeNull();
  changeRecordingSettings(store, (settings) => ({ ...settings, workspace: true }));
  await asks('With consent', project);
  const [session] = store.session.list({ limit: 1 });
  expect(session).toMatchObject({ title: 'With consent', cwd: project });
  await expect.poll(() => workspaceOf(store, session!.id)?.git).toMatchObject({ root: project, branch: 'trunk' });
  expect(workspaceOf(store, session!.id)?.git?.diff).toContain('+one');
});

it('sweeps when the limits change', { timeout: 60_000 }, async () => {
  const [old] = store.session.list({ limit: 1 });
  store.session.put({ ...old!, updatedAt: Date.now() - 3 * 86_400_000 });
  changeRecordingSettings(store, (settings) => ({ ...settings, maxAgeDays: 2 }));
  await expect.poll(() => lastSweep(store)?.removedByAge, { timeout: 45_000 }).toBe(1);
  expect(store.session.get(old!.id)).toBeUndefined();
  expect(workspaceOf(store, old!.id)).toBeNull();
});
