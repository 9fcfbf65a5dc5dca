import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { SanitizeOptions } from '../../../main/sanitize/cli.js';
import { MapStore } from '../../../main/sanitize/map/map-store.js';
import { Numbers } from '../../../main/sanitize/map/numbers.js';
import { Vault } from '../../../main/vault/vault.js';
import { describeShared } from '../../support/shared.js';
import { runSanitize } from '../second/support.js';
import { invented, inventedTokens } from '../support.js';

let dir: string;
let home: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'sanitize-map-'));
  home = join(dir, 'home');
});
afterEach(() => {
  delete process.env.TACKROOM_VAULT_PASSPHRASE;
  rmSync(dir, { recursive: true, force: true });
});

const run = (input: string | Buffer, options: Partial<SanitizeOptions> = {}) =>
  runSanitize(input, { home, ...options });
const mapsOf = (): string[] => {
  const folder = join(home, 'sanitize', 'maps');
  return existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : [];
};
const idIn = (err: string): string => /as map ([0-9a-f]{12});/.exec(err)![1]!;
async function clean(input: string | Buffer): Promise<{ out: Buffer; err: string; id: string }> {
  const { bytes, err } = await run(input);
  return { out: bytes, err, id: idIn(err) };
}

const token = inventedTokens('map')['github-pat']!;
/** A password that no level of JSON leaves as it is. */
const password = `q"${invented('map password', 8)}\\n7`;
const session = [
  { type: 'user', cwd: '/home/jmeier/app', text: `my token is ${token}` },
  { type: 'call', arguments: JSON.stringify({ command: `export GITHUB_TOKEN=${token} && cd /home/jmeier` }) },
  { type: 'tool', content: JSON.stringify({ output: JSON.stringify({ home: '/home/jmeier', key: token }) }) },
  { type: 'tool', content: `{"password": ${JSON.stringify(password)}}` },
  { type: 'end', text: 'nothing of interest' },
]
  .map((record) => `${JSON.stringify(record)}\n`)
  .join('');

describe('a file as it was cleaned', () => {
  test('is put back byte for byte', async () => {
    const odd = Buffer.concat([
      Buffer.from(`\ufeff${session}`),
      Buffer.from([0xff, 0x00, 0x0a]),
      Buffer.from(`a\r\nhttps%3A%2F%2Fx.org%2F%3Ft%3D${token}\r\n/home/%6A%6D%65%69%65%72/x /home/jmeier\n\n\n`),
      Buffer.from(`{"t":"\\u0067${token.slice(1)}", "n": 1.0, "/":"a\\/b"}\n${token}${token}x ${token}`),
    ]);
    for (const input of [Buffer.from(session), odd, Buffer.from(token), Buffer.from(`\n${token}\n`)]) {
      const { out } = await clean(input);
      expect(out.includes(token)).toBe(false);
      expect((await run(out, { restore: true })).bytes.toString('latin1')).toBe(input.toString('latin1'));
    }
  });

  test('with the lines that were withheld', async () => {
    const input = `cd /home/kestrelson/app\nid ${Buffer.from('kestrelson').toString('base64')}\nlast\n`;
    const cleaned = await run(input);
    expect(cleaned.code).toBe(3);
    expect(cleaned.out).toContain('tackroom_withheld');
    expect((await run(cleaned.out, { restore: true })).out).toBe(input);
  });

  test('with lines that look the same and were not', async () => {
    const input = `a /home/jmeier\nb /home/%6A%6D%65%69%65%72\nb /home/jmeier\nb /home/jmeier\nb /home/%6A%6D%65%69%65%72\n`;
    const { out } = await clean(input);
    expect(out.toString()).toBe(`a /home/user1\n${'b /home/user1\n'.repeat(4)}`);
    expect((await run(out, { restore: true })).out).toBe(input);
  });

  test('of several pieces', async () => {
    const filler = `${'nothing here. '.repeat(200)}\n`;
    const input = `${session}${filler.repeat(800)}${session}${filler}`;
    const { out } = await clean(input);
    expect((await run(out, { restore: true })).out).toBe(input);
  });
});

describe('a file that was edited since', () => {
  test('gets back its untouched lines as they were, and values at the right depth in the others', async () => {
    const { out, id } = await clean(session);
    const lines = out.toString().trimEnd().split('\n');
    const before = session.trimEnd().split('\n');
    const standIn = /REDACTED_[A-Z_]+_\d+/.exec(lines[3]!)![0];
    const edited = [
      'a new line with user1 and nothing else',
      lines[2]!,
      lines[1]!.replace('"type":"call"', '"type":"CALL"'),
      lines[3]!.replace('"type":"tool"', '"type":"TOOL"'),
      JSON.stringify({ a: standIn, b: JSON.stringify({ c: [standIn, JSON.stringify({ d: standIn })] }), [standIn]: 1 }),
      'user1s superuser1 user12 REDACTED_NOTHING_9',
    ].join('\n');
    const { out: restored, err } = await run(edited, { restore: true, map: id });
    const got = restored.split('\n');
    expect(got[0]).toBe('a new line with jmeier and nothing else');
    expect(got[1]).toBe(before[2]);
    expect(got[2]).toBe(before[1]!.replace('"type":"call"', '"type":"CALL"'));
    expect(JSON.parse(JSON.parse(got[3]!).content)).toEqual({ password });
    const parsed = JSON.parse(got[4]!);
    expect(parsed.a).toBe(password);
    expect(parsed[password]).toBe(1);
    const inner = JSON.parse(parsed.b);
    expect([inner.c[0], JSON.parse(inner.c[1]).d]).toEqual([password, password]);
    expect(got[5]).toBe('user1s superuser1 user12 REDACTED_NOTHING_9');
    expect(err).toContain('was edited');
    expect(err).toContain('1 stand-ins are not in this map');
  });

  test('images come back as well, signatures in untouched lines only', async () => {
    const image = `iVBORw0KGgo${invented('image', 4_001)}`;
    const signature = invented('signature', 120);
    const line = (n: number): string =>
      JSON.stringify({ n, source: { type: 'base64', media_type: 'image/png', data: image }, token, signature });
    const { out, id } = await clean(`${line(1)}\n${line(2)}\n`);
    expect(out.includes(image) || out.includes(signature)).toBe(false);
    const edited = out.toString().replace('"n":2', '"n":3');
    const got = (await run(edited, { restore: true, map: id })).out.trimEnd().split('\n');
    expect(got[0]).toBe(line(1));
    expect(JSON.parse(got[1]!)).toEqual({ ...JSON.parse(line(3)), signature: '' });
  });

  test('needs its map by name', async () => {
    const { out, id } = await clean(session);
    const edited = `${out.toString()}more\n`;
    const refused = run(edited, { restore: true });
    await expect(refused).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(refused).rejects.toMatchObject({ hint: expect.stringContaining(id) });
    await expect(run(edited, { restore: true, map: '0123456789ab' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(run(edited, { restore: true, map: '../../vault' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect((await run(edited, { restore: true, map: id })).out).toBe(`${session}more\n`);
  });

  test('the map of another session puts back nothing wrong', async () => {
    const { out } = await clean(session);
    const other = await clean(`${inventedTokens('other')['npm-token']!}\n`);
    const { out: restored } = await run(`${out.toString()}more\n`, { restore: true, map: other.id });
    expect(restored).toBe(`${out.toString()}more\n`);
  });
});

describe('what is kept', () => {
  test('is sealed, for its owner alone, and said once how', async () => {
    const first = await clean(session);
    expect(first.err).toContain(join(home, 'vault.key'));
    expect((await clean(session)).err).not.toContain('vault.key');
    expect(mapsOf()).toHaveLength(2);
    for (const file of mapsOf()) {
      expect(statSync(file).mode & 0o777).toBe(0o600);
      const bytes = readFileSync(file);
      for (const text of [token, 'jmeier', 'REDACTED']) expect(bytes.includes(text)).toBe(false);
    }
    expect(first.err).not.toContain(token);
    expect(first.err).not.toContain('jmeier');
  });

  test('only of whole sessions in which something was found, and not when it is not wanted', async () => {
    await run(session, { check: true });
    await run(session, { eachLine: true });
    await run(session, { map: false });
    await run('nothing\n');
    expect(mapsOf()).toEqual([]);
    expect(existsSync(join(home, 'vault.bin'))).toBe(false);
  });

  test('is bounded, the oldest go first, and what a kill left goes too', async () => {
    const vault = new Vault(home);
    await clean(session);
    const store = new MapStore(home, vault, { ageMs: 60_000, maps: 2, bytes: 1e9 });
    const map = { length: 0, standIns: [], originals: [], lines: new Numbers() };
    writeFileSync(join(home, 'sanitize', 'maps', 'aaaaaaaaaaaa.map.partial'), 'x');
    const ids = [];
    for (let i = 0; i < 3; i++) ids.push(await store.keep('0'.repeat(64), map));
    const left = readdirSync(join(home, 'sanitize', 'maps'));
    expect(left).toHaveLength(2);
    expect(left).toContain(`${ids[2]}.map`);
    await new MapStore(home, vault, { ageMs: -1, maps: 2, bytes: 1e9 }).keep('0'.repeat(64), map);
    expect(mapsOf()).toEqual([]);
  });

  test('goes when it is told to', async () => {
    const { out } = await clean(session);
    expect((await run('', { forgetMaps: true })).out).toBe('1 maps are deleted for good.\n');
    expect(mapsOf()).toEqual([]);
    await expect(run(out, { restore: true })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  test('by several at once, none spoils the key of another', async () => {
    const inputs = Array.from({ length: 5 }, (_, i) => `${i} ${token}\n`);
    const cleaned = await Promise.all(inputs.map((input) => clean(input)));
    for (const [i, { out, id }] of cleaned.entries()) {
      expect((await run(`${out.toString()}.`, { restore: true, map: id })).out).toBe(`${inputs[i]}.`);
    }
  });
});

describe('the vault', () => {
  const passphrase = `correct ${invented('passphrase', 12)}`;

  test('locked: the copy is clean, no map is kept, and nothing is put back', { timeout: 60_000 }, async () => {
    await clean(session);
    await new Vault(home).protect({ kind: 'passphrase', passphrase });
    const locked = await run(session);
    expect(locked.code).toBe(0);
    expect(locked.out).not.toContain(token);
    expect(locked.err).toContain('No map was kept');
    expect(locked.err).toContain('TACKROOM_VAULT_PASSPHRASE');
    process.env.TACKROOM_VAULT_PASSPHRASE = passphrase;
    const { out } = await clean(session);
    expect((await run(out, { restore: true })).out).toBe(session);
    process.env.TACKROOM_VAULT_PASSPHRASE = `${passphrase} not`;
    await expect(run(out, { restore: true })).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
    delete process.env.TACKROOM_VAULT_PASSPHRASE;
    await expect(run(out, { restore: true })).rejects.toMatchObject({ code: 'VAULT_LOCKED' });
  });

  test('wiped, or of another key: a clear error', async () => {
    const { out } = await clean(session);
    await new Vault(home).wipe();
    await expect(run(out, { restore: true })).rejects.toMatchObject({ code: 'VAULT_DAMAGED' });
    await clean(`${token}\n`);
    const refused = run(out, { restore: true });
    await expect(refused).rejects.toMatchObject({ code: 'VAULT_DAMAGED' });
    await expect(refused).rejects.toThrow(/another key/);
  });

  test('a map of which a bit was changed is not used', async () => {
    const { out, id } = await clean(session);
    const [file] = mapsOf();
    const bytes = readFileSync(file!);
    for (const at of [bytes.length - 1, bytes.length >> 1, bytes.indexOf('createdAt') + 14]) {
      const changed = Buffer.from(bytes);
      changed[at]! ^= 1;
      writeFileSync(file!, changed);
      await expect(run(out, { restore: true, map: id }), `${at}`).rejects.toMatchObject({ code: 'VAULT_DAMAGED' });
    }
  });
});

describeShared('sessions of the corpus', (shared) => {
  test('come back byte for byte', { timeout: 60_000 }, async () => {
    execFileSync('tar', ['xzf', join(shared, 'corpus', 'sanitize.tar.gz'), '-C', dir]);
    const folder = join(dir, 'sessions', 'shared');
    const texts = readdirSync(folder)
      .filter((name) => name.endsWith('.jsonl'))
      .map((name) => readFileSync(join(folder, name)));
    const cases = readFileSync(join(dir, 'positive', 'shared.jsonl'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { text: string }).text);
    for (const input of [...texts, Buffer.from(cases.join('\n'))]) {
      const { out } = await clean(input);
      expect((await run(out, { restore: true })).out === input.toString()).toBe(true);
    }
  });
});
