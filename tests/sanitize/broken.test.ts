/** What was found by someone who tried to break the sanitizer, and its kin. */

import { execFileSync, spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import {
  existsSync,
  lstatSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { afterAll, describe, expect, test } from 'vitest';
import { type SanitizeOptions, sanitizeCommand } from '../../main/sanitize/cli.js';
import { compileRules } from '../../main/sanitize/rules.js';
import { SanitizeContext, sanitizeBytes } from '../../main/sanitize/sanitize.js';
import { SanitizeStream } from '../../main/sanitize/stream.js';
import { invented, inventedTokens } from './support.js';

const dir = mkdtempSync(join(tmpdir(), 'tackroom-broken-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));
const token = inventedTokens('broken')['github-pat']!;

async function run(
  input: string | Buffer,
  options: Partial<SanitizeOptions> = {},
  stdout?: Writable,
  signal?: AbortSignal,
) {
  const out: Buffer[] = [];
  const sink =
    stdout ??
    new Writable({
      write: (chunk: Buffer, _, done) => {
        out.push(Buffer.from(chunk));
        done();
      },
    });
  const stderr = new Writable({ write: (_chunk, _encoding, done) => done() });
  const file = join(dir, 'in');
  if (options.file === undefined) writeFileSync(file, input);
  const io = { stdin: Readable.from([]), stdout: sink, stderr, ...(signal && { signal }) };
  const code = await sanitizeCommand({ file, home: join(dir, 'home'), map: false, ...options }, io);
  return { code, out: Buffer.concat(out).toString() };
}

describe('reports', () => {
  test('names of fields that are secrets themselves are those of the cleaned record', async () => {
    const report = join(dir, 'report');
    await run(`${JSON.stringify({ [token]: { password: 'hunter-4711-Xy' }, list: [{ [token]: token }] })}\n`, {
      report,
    });
    const text = readFileSync(report, 'utf8');
    expect(text).not.toContain(token);
    expect(text).toContain('REDACTED_GITHUB_PAT_1.password');
  });

  test('never in the place of what is read; a link stays one', async () => {
    const file = join(dir, 'own');
    writeFileSync(file, token);
    symlinkSync(file, join(dir, 'link'));
    for (const report of [file, join(dir, 'link')])
      await expect(run('', { file, report })).rejects.toMatchObject({ code: 'BAD_ARGUMENT' });
    expect(readFileSync(file, 'utf8')).toBe(token);
    const other = join(dir, 'other');
    writeFileSync(other, 'precious', { mode: 0o644 });
    symlinkSync(other, join(dir, 'to-other'));
    await run('', { file, report: join(dir, 'to-other') });
    expect(lstatSync(join(dir, 'to-other')).isSymbolicLink()).toBe(true);
    expect(readFileSync(other, 'utf8')).not.toContain('precious');
    expect(statSync(other).mode & 0o777).toBe(0o600);
  });

  test('a device and a pipe stay what they are', async () => {
    const pipe = join(dir, 'pipe');
    execFileSync('mkfifo', [pipe]);
    const reader = spawn('cat', [pipe], { stdio: ['ignore', 'pipe', 'ignore'] });
    const told = reader.stdout.toArray();
    await run(`x ${token}\n`, { report: pipe });
    expect(Buffer.concat(await told).toString()).toContain('github-pat');
    expect(lstatSync(pipe).isFIFO()).toBe(true);
    await run(token, { report: '/dev/null' });
    expect(lstatSync('/dev/null').isCharacterDevice()).toBe(true);
  });

  test('of an end that failed nothing is left', async () => {
    const report = join(dir, 'none');
    await expect(run(Buffer.from(`\ufeff${token}`, 'utf16le'), { report })).rejects.toMatchObject({
      code: 'UNSUPPORTED',
    });
    expect(existsSync(report) || existsSync(`${report}.partial`)).toBe(false);
  });
});

describe('the command', () => {
  test('--check says 3 also of what only the second scan finds', async () => {
    const line = JSON.stringify({ a: `x ${'glc'}_${invented('glc', 60)}` });
    const cleaned = await run(line);
    const checked = await run(line, { check: true });
    // Should the detectors learn this one, another is needed here.
    expect(cleaned.out).toContain('tackroom_withheld');
    expect([cleaned.code, checked.code]).toEqual([3, 3]);
    expect((await run('nothing', { check: true })).code).toBe(0);
  });

  test('an output that fails is an error, not silence', async () => {
    const full = new Writable({ write: (_chunk, _encoding, done) => done(new Error('no space left')) });
    await expect(run(`${token}\n`.repeat(100), {}, full)).rejects.toMatchObject({ code: 'IO' });
    const each = new Writable({ write: (_chunk, _encoding, done) => done(new Error('no space left')) });
    await expect(run(`${token}\n`.repeat(100), { eachLine: true }, each)).rejects.toMatchObject({ code: 'IO' });
  });

  test('a slow reader is waited for, and nothing piles up', async () => {
    const warned: string[] = [];
    const onWarning = ({ name }: Error): void => void warned.push(name);
    process.on('warning', onWarning);
    const chunks: Buffer[] = [];
    const slow = new Writable({
      highWaterMark: 1,
      write: (chunk: Buffer, _encoding, done) => {
        chunks.push(Buffer.from(chunk));
        setImmediate(done);
      },
    });
    const signal = new AbortController().signal;
    await run(`${token}\n`.repeat(50), { eachLine: true }, slow, signal);
    process.off('warning', onWarning);
    expect(warned).toEqual([]);
    expect(slow.listenerCount('drain') + slow.listenerCount('error')).toBe(0);
    expect(Buffer.concat(chunks).toString()).toBe('REDACTED_GITHUB_PAT_1\n'.repeat(50));
  });

  test('it can be stopped', async () => {
    const stop = new AbortController();
    stop.abort();
    const io = {
      stdin: Readable.from([Buffer.from(token)]),
      stdout: new Writable({ write: (_c, _e, done) => done() }),
      stderr: new Writable({ write: (_c, _e, done) => done() }),
      signal: stop.signal,
    };
    await expect(sanitizeCommand({ file: '-', home: dir, map: false }, io)).rejects.toMatchObject({
      code: 'CANCELLED',
    });
  });

  test('UTF-16 is refused, text with a zero in it is not', async () => {
    for (const bytes of [
      Buffer.from(`\ufeff{"a":"${token}"}`, 'utf16le'),
      Buffer.from(`{"a":"${token}"}`, 'utf16le').swap16(),
    ])
      for (const eachLine of [false, true])
        await expect(run(bytes, { eachLine })).rejects.toMatchObject({ code: 'UNSUPPORTED' });
    expect((await run(`a\0b ${token}\0\0\0\0`)).out).toBe('a\0b REDACTED_GITHUB_PAT_1\0\0\0\0');
  });
});

test('numbers of characters are read', () => {
  const lines = [
    `x ${token.replace('_', '&#95;')}`,
    `y ${token.replace('_', '&#x5f;')}`,
    `z ${token.replace('_', '&lowbar;')}`,
  ];
  lines.push([...token].map((char) => `&#${char.charCodeAt(0)};`).join(''));
  const clean = sanitizeBytes(Buffer.from(lines.join('\n'))).bytes.toString();
  expect(clean).toBe(['x ', 'y ', 'z ', ''].map((before) => `${before}REDACTED_GITHUB_PAT_1`).join('\n'));
});

test('a key in base64 that is broken over lines', () => {
  const { privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 1024,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  const wrapped = (text: string): string => Buffer.from(text).toString('base64').replace(/.{76}/g, '$&\n');
  const clean = sanitizeBytes(Buffer.from(`$ base64 key\n${wrapped(privateKey)}\n$ `)).bytes.toString();
  expect(
    clean
      .split('\n')
      .slice(1, -1)
      .every((line) => /^REDACTED_[A-Z_]+_\d+$/.test(line)),
  ).toBe(true);
  const certificate = wrapped(`-----BEGIN CERTIFICATE-----\n${'QUJD'.repeat(60)}\n-----END CERTIFICATE-----\n`);
  expect(sanitizeBytes(Buffer.from(certificate)).bytes.toString()).toBe(certificate);
});

test('lines of logs that begin like JSON are looked at with what stands around them, wherever the cut falls', () => {
  const { privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  const key = privateKey
    .trimEnd()
    .split('\n')
    .map((line) => `[2026-12-01 10:00:00] ${line}`)
    .join('\n');
  const filler = '[2026-12-01 10:00:00] nothing to see\n';
  for (const before of [1_048_000, 1_047_000, 1_048_500]) {
    const session = new SanitizeStream(dir);
    session.push(Buffer.from(`${filler.repeat(Math.floor(before / filler.length)) + key}\n${filler.repeat(3000)}`));
    const clean = Buffer.concat([...session.finish(null, () => undefined)]).toString();
    session.close();
    expect(clean).not.toContain(privateKey.split('\n')[8]);
  }
});

test('a pattern of the user never changes the number of lines', () => {
  const rules = compileRules('{version: 1, entities: [{name: all, pattern: "secret[^x]*end"}]}', 'rules');
  const clean = sanitizeBytes(
    Buffer.from('a secret one\ntwo\nthree end b\n'),
    new SanitizeContext(),
    rules,
  ).bytes.toString();
  expect(clean.split('\n')).toHaveLength(4);
  expect(clean).toMatch(/^a REDACTED_ALL_1\nREDACTED_ALL_2\nREDACTED_ALL_3 b\n$/);
});

test('an anchor that stands thousands of times costs linear time', () => {
  const text = JSON.stringify({ a: 'curl -u '.repeat(25_000) });
  const before = process.cpuUsage();
  sanitizeBytes(Buffer.from(text));
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1000).toBeLessThan(8000);
});
