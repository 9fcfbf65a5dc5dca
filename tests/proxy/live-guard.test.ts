/** The guard in a running gateway: what the user sets counts from the next check on, and nobody who hangs holds a stream for ever. */
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AllowanceStore } from '../../main/guard/allowance-store.js';
import { answerWrong, revokeAllowance } from '../../main/guard/answer-wrong.js';
import { addPlugin, removePlugin } from '../../main/guard/installed-plugins.js';
import { runRuleTests } from '../../main/guard/run-rule-tests.js';
import { GUARD_SETTING, resetGuardSettings } from '../../main/guard/settings.js';
import { call, EVIL, type LiveRig, readReply, SHELL, startLiveRig } from './live-guard-rig.js';
import { errorOf } from './support.js';

let rig: LiveRig;
let dir: string;
const start = async (...options: Parameters<typeof startLiveRig>): Promise<void> => {
  rig = await startLiveRig(...options);
  dir = join(rig.home, 'plugins');
  mkdirSync(dir);
};
beforeEach(() => start());
afterEach(() => rig.close());

/** The verdict on one call. */
async function judged(command: string): Promise<{ verdict: string; rule: string; reason: string; stage: number }> {
  rig.answer([call('', command)]);
  await rig.ask('chat', true);
  return rig.store.verdict.list({ limit: 1 })[0]!;
}
const last = () => rig.store.verdict.list({ limit: 1 })[0]!;
function file(name: string, text: string): string {
  const path = join(dir, name);
  writeFileSync(path, text);
  return path;
}
const rules = (...list: string[]): string => `export const rules = [${list.join()}];`;
const MODULE = rules(`{ id: 'own.word', severity: 'high', title: 'a word', on: ['command'], pattern: /kaggle/ }`);

describe('settings', () => {
  it('the profile counts from the next check on', async () => {
    const query = 'grep -rn verifier /tests/';
    rig.set({ profile: 'training' });
    const strict = await judged(query);
    rig.set({ profile: 'desktop' });
    const mild = await judged(query);
    expect(strict.verdict).toBe('block');
    expect(mild).not.toMatchObject({ verdict: strict.verdict });
  });

  it('serves no call while they cannot be read', async () => {
    rig.store.setSetting(GUARD_SETTING, { profile: 'lax' });
    rig.answer([call('c', 'ls')]);
    const reply = await rig.ask('chat', false);
    expect(reply.status).toBe(503);
    expect(errorOf(reply).message).toContain('cannot be read');
    expect(reply.text).not.toContain('"ls"');
    resetGuardSettings(rig.store);
    expect(await judged('ls')).toMatchObject({ verdict: 'allow' });
  });
});

describe('"this was wrong"', () => {
  it('lets the same call pass from then on, until it is revoked; the test stands in a private file', async () => {
    const before = await judged(EVIL);
    expect(before).toMatchObject({ verdict: 'block', rule: 'stage1.host' });
    const allowance = answerWrong(rig.store, rig.recorder.messages, last().id);
    expect(answerWrong(rig.store, rig.recorder.messages, last().id)).toEqual(allowance);
    expect(await judged(`  ${EVIL.replace(' ', '   ')}\n`)).toMatchObject({ verdict: 'allow' });
    expect(await judged(`${EVIL}/more`)).toMatchObject({ verdict: 'block' });

    const folder = join(rig.home, 'guard-tests');
    const [name] = readdirSync(folder);
    expect(statSync(join(folder, name!)).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(join(folder, name!), 'utf8'))).toMatchObject({
      id: allowance.verdictId,
      request: { messages: [{ role: 'user', content: 'Hi' }] },
      expect: [{ verdict: 'allow' }],
    });
    expect((await runRuleTests(rig.store)).results).toMatchObject([{ status: 'allowed', tool: SHELL }]);

    revokeAllowance(rig.store, allowance.id);
    expect(await judged(EVIL)).toMatchObject({ verdict: 'block' });
    expect(readdirSync(folder)).toEqual([]);
    expect(() => revokeAllowance(rig.store, allowance.id)).toThrow(/no allowance/);
  });

  it('a rollout is judged without it', async () => {
    await judged(EVIL);
    answerWrong(rig.store, rig.recorder.messages, last().id);
    const worker = await rig.worker('w');
    rig.answer([call('c', EVIL)]);
    await worker.chat({
      messages: [{ role: 'user', content: 'Hi' }],
      tools: [{ type: 'function', function: { name: SHELL, parameters: {} } }],
    });
    expect(last()).toMatchObject({ verdict: 'block', rule: 'stage1.host' });
  });

  it('keeps earlier calls of the same answer in the test, and says when the rules say otherwise', async () => {
    rig.answer([call('a', `echo '${EVIL}' > get.sh`), call('b', 'sh get.sh')]);
    await rig.ask('chat', true);
    const verdict = rig.store.verdict.list({ where: { verdict: 'block' } })[0]!;
    const allowance = answerWrong(rig.store, rig.recorder.messages, verdict.id);
    expect((await runRuleTests(rig.store)).results).toMatchObject([{ status: 'allowed' }]);
    new AllowanceStore(rig.store).remove(allowance.id);
    writeFileSync(join(rig.home, 'guard-tests', 'own.jsonl'), 'no JSON\n');
    expect(await runRuleTests(rig.store)).toMatchObject({
      results: [{ status: 'changed', verdict: 'block', rule: 'stage1.host' }],
      unreadable: ['own.jsonl:1'],
    });
  });

  it('goes with its session as far as it holds words of it', async () => {
    await judged(EVIL);
    const { id } = answerWrong(rig.store, rig.recorder.messages, last().id);
    rig.recorder.deleteSession(last().sessionId);
    expect(readdirSync(join(rig.home, 'guard-tests'))).toEqual([]);
    expect(new AllowanceStore(rig.store).list()).toMatchObject([{ id, rule: 'stage1.host' }]);
    expect(await judged(EVIL)).toMatchObject({ verdict: 'allow' });
  });

  it('has nothing to say to what is allowed, or what nobody can run', async () => {
    await judged('ls');
    expect(() => answerWrong(rig.store, rig.recorder.messages, last().id)).toThrow(/no rule/);
    rig.answer([call('c', 'ls', 'unknown')]);
    await rig.ask('chat', true);
    expect(() => answerWrong(rig.store, rig.recorder.messages, last().id)).toThrow(/no rule/);
    expect(() => answerWrong(rig.store, rig.recorder.messages, 'verdict_none')).toThrow(/no verdict/);
  });
});

describe('plugins', () => {
  it('look at the next call, until they are removed', async () => {
    const path = file('own.mjs', MODULE);
    await addPlugin(rig.store, path);
    expect(await judged('kaggle list')).toMatchObject({ verdict: 'block', rule: 'own.word' });
    expect(await judged('ls')).toMatchObject({ verdict: 'allow' });
    removePlugin(rig.store, path);
    expect(await judged('kaggle list')).toMatchObject({ verdict: 'allow' });
  });

  it('a file that changed is not run, and says so, until it is added again', async () => {
    const path = file('own.mjs', MODULE);
    await addPlugin(rig.store, path);
    await judged('ls');
    file('own.mjs', rules(`{ id: 'own.all', severity: 'high', find: () => true }`));
    expect(await judged('ls')).toMatchObject({
      verdict: 'suspicious',
      rule: 'plugin.failed',
      reason: 'the plugin own.mjs changed since it was added, and was not run',
    });
    await addPlugin(rig.store, path);
    expect(await judged('ls')).toMatchObject({ verdict: 'block', rule: 'own.all' });
    rmSync(path);
    expect(await judged('ls')).toMatchObject({ verdict: 'suspicious', reason: 'the plugin own.mjs cannot be read' });
  });

  it('what is no plugin is not added', async () => {
    await expect(addPlugin(rig.store, file('no.mjs', 'export const x = 1;'))).rejects.toThrow(/lists no rules/);
    await expect(addPlugin(rig.store, file('no.json', '{'))).rejects.toThrow();
    await expect(addPlugin(rig.store, join(dir, 'none.mjs'))).rejects.toThrow(/cannot be read/);
    expect(() => removePlugin(rig.store, join(dir, 'none.mjs'))).toThrow(/not among/);
  });

  it('rollouts are shown to them only where the user says so', async () => {
    await addPlugin(rig.store, file('own.mjs', MODULE));
    const tools = [{ type: 'function', function: { name: SHELL, parameters: {} } }];
    const worker = await rig.worker('w');
    rig.answer([call('c', 'kaggle list')]);
    await worker.chat({ messages: [{ role: 'user', content: 'Hi' }], tools });
    expect(last()).toMatchObject({ verdict: 'allow' });
    rig.set({ pluginsInRollouts: true });
    rig.answer([call('d', 'kaggle list')]);
    await worker.chat({ messages: [{ role: 'user', content: 'Again' }], tools });
    expect(last()).toMatchObject({ verdict: 'block', rule: 'own.word' });
  });

  it('one that hangs holds its own stream to a limit and no other one', async () => {
    await rig.close();
    await start({}, 1500);
    await addPlugin(
      rig.store,
      file('slow.mjs', rules(`{ id: 'own.slow', find: (c) => { while (c.text.command.includes('hang')); } }`)),
    );
    rig.answer([call('', 'hang'), call('', 'ls')]);
    const hanging = rig.ask('chat', true);
    await expect.poll(() => rig.answered()).toBe(1);
    // An answer without calls is recorded and served meanwhile.
    rig.answer([], 'Only words.');
    const order: string[] = [];
    const words = rig.ask('chat', true).then(() => order.push('words'));
    await Promise.all([words, hanging.then(() => order.push('hanging'))]);
    expect(order).toEqual(['words', 'hanging']);
    expect(rig.store.verdict.list().map(({ verdict, rule }) => [verdict, rule])).toEqual([
      ['suspicious', 'plugin.failed'],
      ['suspicious', 'plugin.failed'],
    ]);
  });
});

describe('a judge', () => {
  let server: Server;
  let respond: (response: ServerResponse, asked: { messages: { content: string }[]; model?: string }) => void;
  const says = (content: string) => (response: ServerResponse) =>
    void response.end(JSON.stringify({ choices: [{ message: { content } }] }));
  const DOUBTFUL = 'git fsck';

  beforeEach(async () => {
    server = createServer((request, response) => {
      let text = '';
      request.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      request.once('end', () => respond(response, JSON.parse(text)));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
    rig.set({ judge: { baseUrl, model: 'judge-1', deadlineMs: 500 } });
  });
  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  it('adds a block to what is suspicious; it sees what the user asked, the call and the finding', async () => {
    let seen = '';
    let model = '';
    respond = (response, asked) => {
      seen = asked.messages.at(-1)!.content;
      model = asked.model ?? '';
      says('<think>Hm {no}.</think>{"block": true, "reason": "nobody\\nasked"}')(response);
    };
    expect(await judged(DOUBTFUL)).toMatchObject({ verdict: 'block', stage: 3, reason: 'the judge: nobody asked' });
    expect(JSON.parse(seen)).toMatchObject({
      user: ['Hi'],
      call: { tool: SHELL },
      found: { rule: expect.any(String) },
    });
    expect(model).toBe('judge-1');
  });

  it('is not asked about the rest, and takes no block away', async () => {
    respond = says('{"block": false}');
    expect(await judged(EVIL)).toMatchObject({ verdict: 'block', stage: 1 });
    expect(await judged(DOUBTFUL)).toMatchObject({ verdict: 'suspicious' });
    respond = says('{"block": true}');
    expect(await judged('ls')).toMatchObject({ verdict: 'allow' });
  });

  it.each<[string, (response: ServerResponse) => void]>([
    ['hangs', () => undefined],
    ['hangs in the middle of its answer', (response) => void response.write('{')],
    ['breaks off', (response) => void response.destroy()],
    ['sends an error', (response) => void response.writeHead(500).end('{}')],
    ['leads elsewhere', (response) => void response.writeHead(307, { location: 'http://127.0.0.1:1/' }).end()],
    ['says something else', says('I would not.')],
    ['talks without end', says('{'.repeat(100_000))],
  ])('one that %s leaves the verdict as it was', async (_, answer) => {
    respond = answer;
    expect(await judged(DOUBTFUL)).toMatchObject({ verdict: 'suspicious', stage: 2 });
  });

  it('lives on this machine', () => {
    const judge = (baseUrl: string) => () => rig.set({ judge: { baseUrl, model: '', deadlineMs: 500 } });
    expect(judge('https://api.example.com/v1')).toThrow(/not on this machine/);
    expect(judge('http://gpu-box:8080/v1')).toThrow(/not on this machine/);
    expect(judge('http://user:word@127.0.0.1/v1')).toThrow(/password/);
  });
});

it('calls that nobody judged in time are blocked, and the reason says so', async () => {
  await rig.close();
  await start({ guardMs: 300 });
  await addPlugin(rig.store, file('slow.mjs', rules(`{ id: 'own.slow', find: () => { for (;;); } }`)));
  rig.answer([call('c', 'ls')]);
  const reply = readReply('messages', await rig.ask('messages', true));
  expect(reply).toMatchObject({ calls: [], finish: 'stop' });
  expect(reply.text).toContain('the guard gave no verdict within 0.3 seconds');
  expect(last()).toMatchObject({ verdict: 'block', rule: 'guard.deadline' });
  expect(() => answerWrong(rig.store, rig.recorder.messages, last().id)).toThrow(/no rule/);
});
