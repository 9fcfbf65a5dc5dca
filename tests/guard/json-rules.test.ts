import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { checkWithPlugins } from '../../main/guard/check-with-plugins.js';
import { PLUGIN_LIMITS } from '../../main/guard/plugin-process.js';
import { loadPlugin, type Plugin, stopPlugins } from '../../main/guard/plugins.js';
import type { GuardInput } from '../../main/guard/types.js';
import { TOOLS, USER } from './support.js';

let dir: string;
const open: Plugin[] = [];
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'guard-json-'));
});
afterEach(() => stopPlugins(open.splice(0)));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

async function plugin(name: string, value: unknown, limits = {}): Promise<Plugin> {
  const path = join(dir, name);
  writeFileSync(path, JSON.stringify(value));
  const loaded = await loadPlugin(path, { ...PLUGIN_LIMITS, ...limits });
  open.push(loaded);
  return loaded;
}
const rule = (pattern: string, more = {}) => ({
  version: 1,
  rules: [{ id: 'own.a', severity: 'high', reason: 'no', match: [{ on: ['command'], pattern }], ...more }],
});
async function verdict(command: string, plugins: Plugin[], more: Partial<GuardInput> = {}) {
  const input: GuardInput = {
    harness: 'pi',
    profile: 'training',
    request: { messages: [USER], tools: TOOLS },
    toolCalls: [{ id: 'c', name: 'bash', arguments: JSON.stringify({ command }) }],
    ...more,
  };
  return (await checkWithPlugins(input, plugins))[0];
}

test('an expression of exponential time holds up nothing else, and its call is suspicious', async () => {
  const slow = await plugin('slow.json', rule('^echo (a+)+$'), { answerMs: 1000 });
  let turns = 0;
  const others = setInterval(() => turns++, 20);
  try {
    expect(await verdict(`echo ${'a'.repeat(60)}!`, [slow])).toMatchObject({
      verdict: 'suspicious',
      rule: 'plugin.failed',
    });
  } finally {
    clearInterval(others);
  }
  expect(turns).toBeGreaterThan(1);
  expect(await verdict('echo aaa', [slow])).toMatchObject({ verdict: 'block', rule: 'own.a' });
}, 30_000);

test('profile, task, verdict and reason count as in the rules that ship', async () => {
  const own = await plugin(
    'own.json',
    rule('^fetch {task}$', { only: 'desktop', reason: 'import (x) is none', verdict: { desktop: 'suspicious' } }),
  );
  const desktop = { profile: 'desktop' as const, task: 'a.b' };
  expect(await verdict('fetch a.b', [own], desktop)).toMatchObject({
    verdict: 'suspicious',
    rule: 'own.a',
    severity: 'high',
    reason: 'import (x) is none',
  });
  for (const [command, more] of [
    ['fetch aXb', desktop],
    ['fetch a.b', { ...desktop, profile: 'training' as const }],
    ['fetch a.b', { profile: 'desktop' as const }],
  ] as const)
    expect(await verdict(command, [own], more)).toMatchObject({ verdict: 'allow' });
});

test('a policy joins and excuses what they find, but not that a plugin failed', async () => {
  const own = await plugin('own.json', rule('^ls', { severity: 'low' }));
  const both = {
    id: 'own.both',
    severity: 'high',
    when: { all: ['own.a', { not: 'lookup.git_unreachable_objects' }] },
  };
  expect(await verdict('ls', [own, await plugin('join.json', { rules: [both] })])).toMatchObject({ rule: 'own.both' });
  const excuse = await plugin('excuse.json', { allow: [{ id: 'own.ok', covers: ['own.a', 'plugin.failed'] }] });
  expect(await verdict('ls', [own, excuse])).toMatchObject({ verdict: 'allow' });
  const gone: Plugin = { kind: 'unusable', name: 'gone.mjs', reason: 'cannot be read' };
  expect(await verdict('ls', [own, gone, excuse])).toMatchObject({ rule: 'plugin.failed' });
});
