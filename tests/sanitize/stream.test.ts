import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PieceCutter } from '../../main/sanitize/pieces.js';
import { sanitizeBytes } from '../../main/sanitize/sanitize.js';
import { SanitizeStream } from '../../main/sanitize/stream.js';
import { invented, inventedTokens } from './support.js';

const token = inventedTokens('stream')['github-pat']!;
let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'sanitize-stream-'));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

function clean(input: Buffer, size: number): Buffer {
  const session = new SanitizeStream(join(dir, 'run'));
  for (let at = 0; at < input.length; at += size) session.push(input.subarray(at, at + size));
  const out = Buffer.concat([
    ...session.finish(
      () => undefined,
      () => undefined,
    ),
  ]);
  session.close();
  return out;
}

const records = Array.from({ length: 40 }, (_, i) =>
  JSON.stringify({ cwd: `/home/jmeier/p${i}`, text: `${i} by jmeier: ${i % 7 === 0 ? token : 'nothing'}\nmore` }),
);
const text = (lines: number, at: number): string => {
  const body = Array.from({ length: 30 }, (_, i) => invented(`k${i}`, 64)).join('\n');
  const filler = Array.from({ length: lines }, (_, i) => `line ${i} of a log, nothing to see`);
  filler.splice(at, 0, `-----BEGIN RSA PRIVATE KEY-----\n${body}\n-----END RSA PRIVATE KEY-----`);
  return filler.join('\n');
};

describe('a stream', () => {
  test.each([1, 7, 64, 4093, 1 << 20])('in chunks of %i bytes gives the same', (size) => {
    const input = Buffer.from(`${records.join('\n')}\n\nplain text of jmeier\r\n${token}`);
    expect(clean(input, size)).toEqual(sanitizeBytes(input).bytes);
  });

  test('a value that is learnt late goes from the beginning too', () => {
    const input = Buffer.from(`{"a":"of kweber42"}\n${'{"b":"x"}\n'.repeat(200_000)}{"cwd":"/home/kweber42/x"}\n`);
    const out = clean(input, 65_536).toString();
    expect(out.startsWith('{"a":"of user1"}\n')).toBe(true);
    expect(out.endsWith('{"cwd":"/home/user1/x"}\n')).toBe(true);
  });

  test.each([0, 100, 20_000, 33_000, 34_900, 35_500, 36_000, 60_000, 69_999])(
    'a key in plain text is found whole wherever the text is cut (line %i)',
    (at) => {
      const input = Buffer.from(text(70_000, at));
      const out = clean(input, 100_000).toString();
      for (let i = 0; i < 30; i++) expect(out).not.toContain(invented(`k${i}`, 64));
      expect(out.split('\n').length).toBe(input.toString().split('\n').length);
    },
  );

  test('pieces lie one after the other and cover all, whatever the chunks', () => {
    const input = Buffer.from(`${text(50_000, 3)}\n${'{"a":1}\n'.repeat(300_000)}${text(40_000, 3)}`);
    const cut = (size: number): unknown[] => {
      const cutter = new PieceCutter();
      const out = [];
      for (let at = 0; at < input.length; at += size) out.push(...cutter.push(input.subarray(at, at + size)));
      return [...out, ...cutter.end()];
    };
    const pieces = cut(input.length) as { from: number; to: number; ownFrom: number; ownTo: number }[];
    expect(pieces.length).toBeGreaterThan(4);
    let at = 0;
    for (const { from, to, ownFrom, ownTo } of pieces) {
      expect(ownFrom).toBe(at);
      expect(from <= ownFrom && ownFrom < ownTo && ownTo <= to).toBe(true);
      at = ownTo;
    }
    expect(at).toBe(input.length);
    expect(cut(4093)).toEqual(pieces);
    expect(cut(70_001)).toEqual(pieces);
  });

  test.runIf(process.platform === 'linux')(
    'what is put aside has no name, and nothing is left after kill -9',
    async () => {
      const home = join(dir, 'home');
      const main = join(import.meta.dirname, '..', '..', 'bin', 'tackroom.mjs');
      const child = spawn(process.execPath, [main, 'sanitize', '-', '--home', home], {
        stdio: ['pipe', 'ignore', 'ignore'],
      });
      const line = `${JSON.stringify({ text: token.repeat(3) })}\n`;
      const bytes = Buffer.from(line.repeat(Math.ceil((12 << 20) / line.length)));
      await new Promise<void>((resolve, reject) => {
        child.once('error', reject);
        child.stdin.write(bytes, () => resolve());
      });
      const files = (): string[] =>
        readdirSync(home, { recursive: true })
          .map(String)
          .filter((name) => name.includes('sanitize'));
      const deadline = Date.now() + 20_000;
      let open = '';
      while (open === '' && Date.now() < deadline) {
        const fds = readdirSync(`/proc/${child.pid}/fd`);
        open = fds.map((fd) => linkOf(`/proc/${child.pid}/fd/${fd}`)).find((path) => path.includes('sanitize-')) ?? '';
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      expect(open).toContain('(deleted)');
      expect(files()).toEqual([]);
      const gone = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGKILL');
      await gone;
      expect(files()).toEqual([]);
    },
  );
});

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}
