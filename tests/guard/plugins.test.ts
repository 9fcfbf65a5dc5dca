import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { checkWithPlugins } from '../../main/guard/check-with-plugins.js';
import { hostCommand, PLUGIN_LIMITS } from '../../main/guard/plugin-process.js';
import { loadPlugin, type Plugin } from '../../main/guard/plugins.js';
import type { GuardInput } from '../../main/guard/types.js';
import { packageRoot } from '../../native/addon.js';
import { TOOLS, USER } from './support.js';

let dir: string;
let server: Server;
let port = 0;
let contacts = 0;
const open: Plugin[] = [];

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'guard-plugin-'));
  writeFileSync(join(dir, 'secret.txt'), 'do not read');
  server = createServer((socket) => {
    contacts++;
    socket.destroy();
  });
  await new Promise<void>((done) => {
    server.listen(0, '127.0.0.1', done);
  });
  port = (server.address() as { port: number }).port;
});
afterEach(() => {
  for (const plugin of open.splice(0)) if (plugin.kind === 'module') plugin.module.stop();
});
afterAll(() => {
  server.close();
  rmSync(dir, { recursive: true, force: true });
});

async function plugin(name: string, text: string, limits = {}): Promise<Plugin> {
  const path = join(dir, name);
  writeFileSync(path, text);
  const loaded = await loadPlugin(path, { ...PLUGIN_LIMITS, ...limits });
  open.push(loaded);
  return loaded;
}
const input = (command: string, more: Partial<GuardInput> = {}): GuardInput => ({
  harness: 'pi',
  profile: 'training',
  request: { messages: [USER], tools: TOOLS },
  toolCalls: [{ id: 'c', name: 'bash', arguments: JSON.stringify({ command }) }],
  ...more,
});
async function verdict(command: string, plugins: Plugin[], more: Partial<GuardInput> = {}) {
  const [first] = await checkWithPlugins(input(command, more), plugins);
  return first;
}

describe('a module', () => {
  test('the example: two expressions', async () => {
    const example = await loadPlugin(join(packageRoot(), 'resources', 'guard', 'example-plugin.mjs'));
    open.push(example);
    const desktop = { profile: 'desktop' as const };
    expect(await verdict('ls jupyter-agent-kaggle', [example], desktop)).toMatchObject({
      verdict: 'block',
      stage: 2,
      rule: 'example.answer_source',
      severity: 'high',
    });
    expect(await verdict('echo a; cat /tests/grader/x', [example], desktop)).toMatchObject({
      verdict: 'block',
      rule: 'example.grader',
    });
    expect(await verdict('cat app/tests/grader/x', [example], desktop)).toMatchObject({ verdict: 'allow' });
    expect(await verdict('ls kaggle', [example], desktop)).toMatchObject({ verdict: 'allow' });
  });

  test('a rule in code sees the call as the guard does, and why it ran', async () => {
    const own = await plugin(
      'code.mjs',
      `export function rules() {
        return [{ id: 'own.rm', severity: 'low', title: 'removes',
          find: (call, { profile, task }) => call.text.command.some((c) => c.startsWith('rm ')) && profile + ' ' + task + ' ' + call.name }];
      }`,
    );
    expect(await verdict('sh -c \'r""m x\'', [own], { task: 't' })).toMatchObject({
      verdict: 'suspicious',
      rule: 'own.rm',
      reason: 'training t bash',
    });
    expect(await verdict('ls', [own])).toMatchObject({ verdict: 'allow' });
  });

  test('a graver built-in verdict stands, whatever the plugin says', async () => {
    const mild = await plugin(
      'mild.mjs',
      `export const rules = [{ id: 'own.x', severity: 'info', find: () => true }];`,
    );
    expect(await verdict('echo 1 > /logs/verifier/reward.txt', [mild])).toMatchObject({
      verdict: 'block',
      rule: 'tamper.reward_write',
    });
    expect(await verdict('curl https://other.example.org', [mild])).toMatchObject({
      verdict: 'block',
      rule: 'stage1.host',
    });
  });

  test('a reason has one line', async () => {
    const own = await plugin(
      'lines.mjs',
      `export const rules = [{ id: 'own.x', severity: 'low', find: () => 'a\\n\\u001b[31mb' }];`,
    );
    expect((await verdict('ls', [own]))?.reason).toBe('a [31mb');
  });
});

/** Top level or a rule that misbehaves: `ls` becomes suspicious, an attack stays blocked. */
const HOSTILE: [string, string][] = [
  ['an endless loop in a rule', `export const rules = [{ id: 'a.b', find: () => { for (;;); } }];`],
  ['an endless loop at the top', 'for (;;); export const rules = [];'],
  ['an endless wait at the top', 'await new Promise(() => {}); export const rules = [];'],
  ['a throwing rule', `export const rules = [{ id: 'a.b', find: () => { throw new Error('x'); } }];`],
  ['a throwing top', `throw new Error('x');`],
  [
    'what it throws is hostile',
    `export const rules = [{ id: 'a.b', find: () => { throw { get message() { for (;;); }, toString() { for (;;); } }; } }];`,
  ],
  ['process.exit in a rule', `export const rules = [{ id: 'a.b', find: () => process.exit(0) }];`],
  ['process.exit at the top', 'process.exit(0); export const rules = [];'],
  ['a huge reason', `export const rules = [{ id: 'a.b', severity: 'low', find: () => 'x'.repeat(1 << 29) }];`],
  [
    'all memory',
    `export const rules = [{ id: 'a.b', find: () => { const a = []; for (;;) a.push(new Array(1e6).fill(1)); } }];`,
  ],
  ['endless recursion', `const f = () => f() + 1; export const rules = [{ id: 'a.b', find: f }];`],
  ['a promise', `export const rules = [{ id: 'a.b', find: async () => true }];`],
  ['a slow expression', `export const rules = [{ id: 'a.b', find: () => /^(a+)+$/.test('a'.repeat(60) + 'b') }];`],
  ['no list', 'export const other = 1;'],
  ['a wrong id', `export const rules = [{ id: 'a b', find: () => true }];`],
  ['a wrong severity', `export const rules = [{ id: 'a.b', severity: 'awful', find: () => true }];`],
  ['no JavaScript', 'export const rules = ['],
  ['a static import', `import fs from 'node:fs'; export const rules = [{ id: 'a.b', find: () => false }];`],
  ['a dynamic import', `export const rules = [{ id: 'a.b', find: () => { import('node:fs'); return false; } }];`],
  [
    'a dynamic import with a comment',
    `export const rules = [{ id: 'a.b', find: () => { import /* x */ ('node:fs'); return false; } }];`,
  ],
  [
    'its adapter replaced',
    `export const rules = []; Object.defineProperty(globalThis, 'look', { value: () => ({}) , writable: false });`,
  ],
];

describe('a module that fails is suspicious, and nothing else', () => {
  test.each(HOSTILE)(
    '%s',
    async (_, text) => {
      const bad = await plugin('bad.mjs', text, { answerMs: 1500, startMs: 4000 });
      expect(await verdict('ls', [bad])).toMatchObject({ verdict: 'suspicious' });
      expect(await verdict('echo 1 > /logs/verifier/reward.txt', [bad])).toMatchObject({
        verdict: 'block',
        rule: 'tamper.reward_write',
      });
    },
    40_000,
  );

  test('one call that it fails on does not spoil the next, and the same call gets the same verdict', async () => {
    const picky = await plugin(
      'picky.mjs',
      `export const rules = [
        { id: 'own.loop', find: (call) => { while (call.text.command.includes('loop')); return false; } },
        { id: 'own.high', severity: 'high', find: (call) => call.text.command.includes('bad') },
        { id: 'own.throws', find: (call) => { if (call.text.command.includes('bad')) throw 1; } },
      ];`,
      { answerMs: 700 },
    );
    const rules = [];
    for (const command of ['loop', 'ls', 'bad', 'loop', 'ls', 'bad'])
      rules.push((await verdict(command, [picky]))?.rule);
    expect(rules).toEqual(['plugin.failed', 'none', 'own.high', 'plugin.failed', 'none', 'own.high']);
  }, 30_000);
});

describe('nothing outside can be reached', () => {
  const reach = (expression: string) =>
    `export const rules = [{ id: 'own.reached', severity: 'critical', find: () => { try { return Boolean(${expression}); } catch { return false; } } }];`;
  test.each([
    `process`,
    `require('node:fs')`,
    `globalThis.process || globalThis.require || globalThis.fetch || globalThis.Buffer || globalThis.setTimeout`,
    `this.constructor.constructor('return process')()`,
    `globalThis.constructor.constructor('return process')()`,
    `eval('1')`,
    `new Function('return 1')()`,
    `(async () => {}).constructor('return 1')`,
    `new WebAssembly.Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]))`,
    `Error.prepareStackTrace = (_, frames) => frames.map((f) => f.getThis()).find(Boolean), new Error('x').stack.process`,
    `import.meta.url || import.meta.resolve || import.meta.dirname`,
  ])('%s', async (expression) => {
    const own = await plugin('reach.mjs', reach(expression));
    expect((await verdict('ls', [own]))?.rule).not.toBe('own.reached');
  });

  test('no file is read and no socket opened', async () => {
    const before = contacts;
    for (const attempt of [
      `new Socket().connect(${port})`,
      `fetch('http://127.0.0.1:${port}/')`,
      `require('node:net').connect(${port})`,
      `new WebSocket('ws://127.0.0.1:${port}/')`,
      `process.binding('fs').open('${dir}/secret.txt')`,
    ]) {
      const own = await plugin('net.mjs', reach(attempt));
      expect((await verdict('ls', [own]))?.rule).not.toBe('own.reached');
    }
    expect(contacts).toBe(before);
  });

  test('the process that hosts it has no right to files, children or workers either', async () => {
    const [command, ...args] = await hostCommand();
    const attempt = (code: string): string =>
      execFileSync(
        command!,
        [...args.slice(0, -1), '-e', `try { ${code}; console.log('done') } catch (e) { console.log(e.code) }`],
        {
          encoding: 'utf8',
          env: {},
        },
      ).trim();
    expect(attempt(`require('fs').readFileSync(${JSON.stringify(join(dir, 'secret.txt'))})`)).toBe('ERR_ACCESS_DENIED');
    expect(attempt(`require('fs').writeFileSync(${JSON.stringify(join(dir, 'new.txt'))}, '')`)).toBe(
      'ERR_ACCESS_DENIED',
    );
    expect(attempt(`require('child_process').spawnSync('true')`)).toBe('ERR_ACCESS_DENIED');
    expect(attempt(`new (require('worker_threads').Worker)('1', { eval: true })`)).toBe('ERR_ACCESS_DENIED');
  });
});

describe('JSON', () => {
  test('rules of the guard', async () => {
    const own = await plugin(
      'rules.json',
      JSON.stringify({
        version: 1,
        rules: [
          { id: 'own.kaggle', severity: 'high', reason: 'no', match: [{ on: ['command'], pattern: '^kaggle\\b' }] },
        ],
      }),
    );
    expect(await verdict('kaggle datasets list', [own])).toMatchObject({ verdict: 'block', rule: 'own.kaggle' });
    expect(await verdict('echo kaggle', [own])).toMatchObject({ verdict: 'allow' });
  });

  test('a policy raises what is found together, and excuses what its owner accepts', async () => {
    const own = await plugin(
      'policy.json',
      JSON.stringify({
        rules: [
          {
            id: 'own.both',
            severity: 'high',
            when: { all: ['lookup.git_unreachable_objects', { not: 'tamper.test_files' }] },
          },
        ],
        allow: [
          { id: 'own.ok', covers: 'access.harness_credentials' },
          { id: 'own.never', covers: 'stage1.host' },
        ],
      }),
    );
    expect(await verdict('git fsck', [own])).toMatchObject({ verdict: 'block', rule: 'own.both' });
    expect(await verdict('cat ~/.netrc', [own])).toMatchObject({ verdict: 'allow' });
    expect(await verdict('curl https://other.example.org', [own])).toMatchObject({
      verdict: 'block',
      rule: 'stage1.host',
    });
  });

  test.each([
    ['x.json', '{"version":1,"rules":[{}]}', 'BAD_ARGUMENT'],
    ['x.json', '[]', 'BAD_ARGUMENT'],
    ['x.txt', 'x', 'BAD_ARGUMENT'],
  ])('%s %s is refused', async (name, text, code) => {
    await expect(plugin(name, text)).rejects.toMatchObject({ code });
  });
});

test('TypeScript, where Node can take the types out, and a clear refusal where it cannot', async () => {
  const text = `const list: { id: string; severity: string; find(): boolean }[] = [{ id: 'own.ts', severity: 'low', find: () => true }]; export const rules = list;`;
  if ('stripTypeScriptTypes' in (await import('node:module')))
    expect((await verdict('ls', [await plugin('a.ts', text)]))?.rule).toBe('own.ts');
  else await expect(plugin('a.ts', text)).rejects.toMatchObject({ code: 'UNSUPPORTED' });
});
