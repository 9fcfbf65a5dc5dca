import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { afterAll, describe, expect, test } from 'vitest';
import { type SanitizeOptions, sanitizeCommand } from '../../main/sanitize/cli.js';
import { inventedTokens } from './support.js';

const dir = mkdtempSync(join(tmpdir(), 'sanitize-cli-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));
const token = inventedTokens('cli')['github-pat']!;

async function run(
  input: Buffer | string,
  options: Partial<SanitizeOptions> = {},
): Promise<{ code: number; out: Buffer }> {
  const chunks: Buffer[] = [];
  const stdout = new Writable({
    write: (chunk: Buffer, _, done) => {
      chunks.push(Buffer.from(chunk));
      done();
    },
  });
  const stderr = new Writable({ write: (_chunk, _encoding, done) => done() });
  const code = await sanitizeCommand(
    { file: '-', home: join(dir, 'home'), ...options },
    { stdin: Readable.from([Buffer.from(input)]), stdout, stderr },
  );
  return { code, out: Buffer.concat(chunks) };
}

describe('sanitize', () => {
  test('line ends, odd bytes and a missing last newline stay', async () => {
    const input = Buffer.concat([
      Buffer.from(`\ufeffa ${token}\r\n\r\n`),
      Buffer.from([0xff, 0xfe, 0x41]),
      Buffer.from(`\nz ${token}`),
    ]);
    const { code, out } = await run(input);
    expect(code).toBe(0);
    expect(out.toString('latin1')).toBe(input.toString('latin1').replaceAll(token, 'REDACTED_GITHUB_PAT_1'));
  });

  test('each line its own session, or all one', async () => {
    const input = '/home/jmeier/a\n/home/kweber/b\n';
    expect((await run(input)).out.toString()).toBe('/home/user1/a\n/home/user2/b\n');
    expect((await run(input, { eachLine: true })).out.toString()).toBe('/home/user1/a\n/home/user1/b\n');
  });

  test('rules of the home hold beside those that are named', async () => {
    const home = join(dir, 'ruled');
    mkdirSync(home);
    writeFileSync(
      join(home, 'sanitize-rules.yaml'),
      'version: 1\nentities: [{ name: place, values: [Falkenstein] }]\n',
    );
    const rules = join(dir, 'more.yaml');
    writeFileSync(rules, 'version: 1\nkeep: [jmeier]\nentities: [{ name: ship, values: [Aurora] }]\n');
    const input = 'Falkenstein Aurora /home/jmeier/x';
    expect((await run(input, { home })).out.toString()).toBe('REDACTED_PLACE_1 Aurora /home/user1/x');
    expect((await run(input, { home, rules })).out.toString()).toBe('REDACTED_PLACE_1 REDACTED_SHIP_1 /home/jmeier/x');
    writeFileSync(join(home, 'sanitize-rules.yaml'), 'version: 2');
    await expect(run(input, { home })).rejects.toMatchObject({ code: 'BAD_ARGUMENT' });
  });

  test('passwords with letters of other scripts go, labels stay', async () => {
    const line = (value: string): string => JSON.stringify({ password: value });
    expect((await run(line('Abcd1234x7é'))).out.toString()).toBe(line('REDACTED_PASSWORD_1'));
    for (const label of ['Contraseña', 'Passwort ändern 2', 'パスワード', 'Mot de passe oublié'])
      expect((await run(line(label))).out.toString()).toBe(line(label));
  });

  test('the report says where, never what', async () => {
    const report = join(dir, 'report.jsonl');
    const file = join(dir, 'in.txt');
    writeFileSync(file, `x\ny ${token}\n`);
    await run('', { file, report });
    const text = readFileSync(report, 'utf8');
    expect(JSON.parse(text)).toMatchObject({
      line: 1,
      start: 2,
      end: 2 + token.length,
      family: 'github-pat',
      placeholder: 'REDACTED_GITHUB_PAT_1',
      count: 1,
    });
    expect(text).not.toContain(token);
  });

  test('--check writes nothing and tells by the exit code', async () => {
    expect(await run(token, { check: true })).toEqual({ code: 3, out: Buffer.alloc(0) });
    expect((await run('nothing here', { check: true })).code).toBe(0);
  });
});
