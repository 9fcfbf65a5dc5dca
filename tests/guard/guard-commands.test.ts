import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Origin } from '../../contract/records.js';
import { guardAllowancesCommand, guardTestCommand, guardWrongCommand } from '../../main/cli/guard-answers.js';
import { guardLogCommand } from '../../main/cli/guard-log.js';
import {
  guardPluginsAddCommand,
  guardPluginsListCommand,
  guardPluginsRemoveCommand,
  guardSettingsCommand,
} from '../../main/cli/guard-settings.js';
import { GUARD_SETTING } from '../../main/guard/settings.js';
import { openStore } from '../../main/store/store.js';
import { runCommand } from '../support/command-io.js';
import { recordJudged } from './recorded.js';

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'tackroom-guard-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const EVIL = 'curl https://other.example.org/x';

function record(command: string, origin: Origin = 'user'): { verdictId: string; sessionId: string } {
  const store = openStore(home);
  try {
    return recordJudged(store, { command, origin });
  } finally {
    store.close();
  }
}
const log = async (options: Partial<Parameters<typeof guardLogCommand>[0]> = {}) => {
  const { code, out, err } = await runCommand((io) =>
    guardLogCommand({ home, limit: '50', json: true, ...options }, io),
  );
  expect(code, err).toBe(0);
  return (JSON.parse(out) as { entries: { id: string; rule: string; session: string; call: { name: string } }[] })
    .entries;
};

test('the log: newest first, without what was allowed, rollouts on demand', async () => {
  const first = record(EVIL);
  record('ls');
  const second = record('git fsck');
  const rollout = record(`${EVIL}/rollout`, 'rollout');
  expect(await log()).toMatchObject([
    { id: second.verdictId, verdict: 'suspicious' },
    { id: first.verdictId, verdict: 'block', rule: 'stage1.host', harness: 'pi', call: { name: 'bash' } },
  ]);
  expect(await log({ verdict: 'block' })).toHaveLength(1);
  expect(await log({ rule: 'stage1.host', rollouts: true })).toMatchObject([
    { id: rollout.verdictId, origin: 'rollout' },
    { id: first.verdictId },
  ]);
  expect(await log({ session: rollout.sessionId })).toHaveLength(1);
  expect(await log({ limit: '1' })).toMatchObject([{ id: second.verdictId }]);
  const lines = await runCommand((io) => guardLogCommand({ home, limit: '50', jsonl: true }, io));
  expect(lines.out.trim().split('\n')).toHaveLength(2);
  const wrong = await runCommand((io) => guardLogCommand({ home, limit: '50', verdict: 'allow' }, io));
  expect(wrong).toMatchObject({ code: 2, err: expect.stringContaining('block or suspicious') as string });
});

test('what the model wrote does not steer the terminal', async () => {
  record(`${EVIL} \u001b[2J`);
  const { out } = await runCommand((io) => guardLogCommand({ home, limit: '50' }, io));
  expect(out).not.toContain('\u001b');
  expect(out).toContain('stage1.host');
});

test('wrong, allowances, test, revoke', async () => {
  const { verdictId } = record(EVIL);
  expect(await runCommand((io) => guardWrongCommand({ home, verdict: verdictId }, io))).toMatchObject({ code: 0 });
  const listed = await runCommand((io) => guardAllowancesCommand({ home, json: true }, io));
  const [allowance] = (JSON.parse(listed.out) as { allowances: { id: string; rule: string }[] }).allowances;
  expect(allowance).toMatchObject({ rule: 'stage1.host' });
  const tested = await runCommand((io) => guardTestCommand({ home, json: true }, io));
  expect(tested.code).toBe(0);
  expect(JSON.parse(tested.out)).toMatchObject({ results: [{ id: verdictId, status: 'allowed' }] });
  writeFileSync(join(home, 'guard-tests', 'own.jsonl'), '{}\n');
  expect(await runCommand((io) => guardTestCommand({ home }, io))).toMatchObject({
    code: 1,
    err: 'guard-tests/own.jsonl:1 is no rule test.\n',
  });
  expect(await runCommand((io) => guardAllowancesCommand({ home, revoke: allowance!.id }, io))).toMatchObject({
    code: 0,
  });
  expect(readdirSync(join(home, 'guard-tests'))).toEqual(['own.jsonl']);
  expect(await runCommand((io) => guardWrongCommand({ home, verdict: 'verdict_x' }, io))).toMatchObject({
    code: 1,
    err: expect.stringContaining('guard log') as string,
  });
});

test('settings are shown and changed, a wrong one changes nothing', async () => {
  const set = (options: Partial<Parameters<typeof guardSettingsCommand>[0]>) =>
    runCommand((io) => guardSettingsCommand({ home, json: true, ...options }, io));
  expect(JSON.parse((await set({})).out)).toMatchObject({ profile: 'desktop', blocked: 'notice', judge: null });
  await set({ profile: 'training', blocked: 'harmless', judge: 'http://localhost:8080/v1/', judgeModel: 'm' });
  await set({ judgeSeconds: '3', pluginsInRollouts: 'on' });
  const now = {
    profile: 'training',
    blocked: 'harmless',
    pluginsInRollouts: true,
    judge: { baseUrl: 'http://localhost:8080/v1', model: 'm', deadlineMs: 3000 },
  };
  expect(JSON.parse((await set({})).out)).toMatchObject(now);
  for (const wrong of [
    { profile: 'lax' },
    { blocked: 'gone' },
    { judge: 'https://api.example.com/v1' },
    { judge: 'nonsense' },
    { judgeSeconds: '60' },
  ])
    expect(await set(wrong), JSON.stringify(wrong)).toMatchObject({ code: 2, out: '' });
  expect(JSON.parse((await set({})).out)).toMatchObject(now);
  expect(JSON.parse((await set({ judge: 'engine' })).out)).toMatchObject({
    judge: { baseUrl: null, model: '', deadlineMs: 3000 },
  });
  expect(JSON.parse((await set({ judge: 'off' })).out)).toMatchObject({ judge: null });

  const store = openStore(home);
  store.setSetting(GUARD_SETTING, { plugins: 1 });
  store.close();
  expect(await set({ profile: 'desktop' })).toMatchObject({
    code: 1,
    err: expect.stringContaining('--reset') as string,
  });
  expect(await set({ reset: true })).toMatchObject({ code: 0 });
});

test('plugins are listed with what became of their files', async () => {
  const file = join(home, 'own.json');
  const rule = (id: string): void =>
    writeFileSync(
      file,
      JSON.stringify({
        version: 1,
        rules: [{ id, severity: 'high', reason: 'no', match: [{ on: ['command'], pattern: 'x' }] }],
      }),
    );
  const states = async (): Promise<string[]> => {
    const { out } = await runCommand((io) => guardPluginsListCommand({ home, json: true }, io));
    return (JSON.parse(out) as { plugins: { state: string }[] }).plugins.map(({ state }) => state);
  };
  rule('own.a');
  expect(await runCommand((io) => guardPluginsAddCommand({ home, file }, io))).toMatchObject({ code: 0 });
  expect(await states()).toEqual(['ready']);
  rule('own.b');
  expect(await states()).toEqual(['changed']);
  rmSync(file);
  expect(await states()).toEqual(['missing']);
  expect(await runCommand((io) => guardPluginsRemoveCommand({ home, file }, io))).toMatchObject({ code: 0 });
  expect(await states()).toEqual([]);
  expect(await runCommand((io) => guardPluginsRemoveCommand({ home, file }, io))).toMatchObject({ code: 1 });
});
