import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { packageRoot } from '../../native/addon.js';

const BIN = join(packageRoot(), 'bin', 'tackroom.mjs');
const READY = existsSync(join(packageRoot(), 'dist', 'main', 'cli', 'index.js'));
const request = {
  messages: [{ role: 'user', content: 'hi' }],
  tools: [{ type: 'function', function: { name: 'bash', parameters: { type: 'object' } } }],
};

test.skipIf(!READY)('plugins are given one by one, before the file; exit codes of check and scan', () => {
  const dir = mkdtempSync(join(tmpdir(), 'guard-cli-'));
  try {
    const lines = join(dir, 'calls.jsonl');
    const tool_calls = [{ id: 't', function: { name: 'bash', arguments: '{"command":"ls own-secret"}' } }];
    writeFileSync(
      lines,
      JSON.stringify({ id: 'a', profile: 'desktop', harness: 'pi', api: 'chat', request, response: { tool_calls } }),
    );
    const plugin = (id: string): string => {
      const path = join(dir, `${id}.json`);
      const rule = {
        id: `own.${id}`,
        severity: 'high',
        reason: 'no',
        match: [{ on: ['command'], pattern: `own-${id}` }],
      };
      writeFileSync(path, JSON.stringify({ version: 1, rules: [rule] }));
      return path;
    };
    const checked = spawnSync(
      process.execPath,
      [BIN, 'guard', 'check', '--jsonl', '--plugin', plugin('other'), '--plugin', plugin('secret'), lines],
      { encoding: 'utf8' },
    );
    expect(checked.stderr).toBe('');
    expect(checked.status).toBe(3);
    expect(JSON.parse(checked.stdout)).toMatchObject({ id: 'a', verdicts: [{ verdict: 'block', rule: 'own.secret' }] });
    expect(spawnSync(process.execPath, [BIN, 'guard', 'scan', join(dir, 'absent')]).status).toBe(2);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});
