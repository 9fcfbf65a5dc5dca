import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BpeTokenizer } from '../../../main/models/demo/bpe.js';
import { capturePiPrompt, privatePi } from '../../../main/models/demo/capture-pi.js';
import { encodePrompt } from '../../../main/models/demo/codec.js';
import { completeTokenizer, demoModelDir, type PiLinesFile } from '../../../main/models/demo/complete-tokenizer.js';
import {
  fixedPieces,
  type PiRequestBody,
  pieceHash,
  readPiPrompt,
  withPaths,
} from '../../../main/models/demo/pi-lines.js';
import type { TokenizerFile } from '../../../main/models/demo/tokenizer-file.js';
import { packageRoot } from '../../../native/addon.js';

/** A prompt of the same shape as pi's, in our own words. */
const own: PiRequestBody = {
  messages: [
    {
      role: 'system',
      content:
        'You help people.\n\n- Manual: /home/me/lib/node_modules/@earendil-works/pi-coding-agent/README.md\n- More: /home/me/lib/node_modules/@earendil-works/pi-coding-agent/docs\n\n<cwd>\n/home/me\n</cwd>',
    },
    { role: 'user', content: 'hello' },
  ],
  tools: [{ type: 'function', function: { name: 'bash', description: 'Runs.' } }],
};
const text = (dir: string, name: string) => readFileSync(join(dir, name), 'utf8');
const tokenizerIn = (dir: string) => new BpeTokenizer(JSON.parse(text(dir, 'tokenizer.json')) as TokenizerFile);

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'tackroom-complete-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

describe('fixedPieces', () => {
  it('are the same wherever pi is installed and runs', () => {
    const prompt = readPiPrompt(own)!;
    expect(prompt).toMatchObject({ cwd: '/home/me', installRoot: '/home/me/lib' });
    const moved = structuredClone(own);
    moved.messages[0]!.content = withPaths(prompt, '/work', '/opt/$&/pi');
    expect(readPiPrompt(moved)).toMatchObject({ cwd: '/work', installRoot: '/opt/$&/pi' });
    expect(fixedPieces(readPiPrompt(moved)!)).toEqual(fixedPieces(prompt));
  });

  it('are whole lines, cut at paths', () => {
    expect(fixedPieces(readPiPrompt(own)!)).toEqual([
      'You help people.\n',
      '- Manual: ',
      '/README.md\n',
      '- More: ',
      '/docs\n',
      '<cwd>\n',
      '</cwd>',
      '{"name":"bash","description":"Runs."}',
    ]);
  });
});

describe('completeTokenizer', () => {
  /** A model folder made for `own`. */
  function ownModel(): string {
    const first = JSON.parse(text(demoModelDir(), 'tokenizer.json')) as TokenizerFile;
    const start = new BpeTokenizer(first).vocabSize;
    const lines = fixedPieces(readPiPrompt(own)!).map((piece, i) => ({ id: start + i, sha256: pieceHash(piece) }));
    writeFileSync(join(dir, 'tokenizer.json'), JSON.stringify(first));
    writeFileSync(
      join(dir, 'pi_lines.json'),
      JSON.stringify({ harness: 'pi', version: '9.9.9', lines } satisfies PiLinesFile),
    );
    return dir;
  }

  it('gives every line one token', () => {
    completeTokenizer(own, join(dir, 'out'), ownModel());
    const tokenizer = tokenizerIn(join(dir, 'out'));
    for (const piece of fixedPieces(readPiPrompt(own)!)) expect(tokenizer.encode(piece)).toHaveLength(1);
    expect(tokenizer.decode(encodePrompt(tokenizer, own.messages, own.tools))).toContain(own.messages[0]!.content);
  });

  const changed = (change: (text: string) => string): PiRequestBody => ({
    ...own,
    messages: [{ role: 'system', content: change(String(own.messages[0]!.content)) }, ...own.messages.slice(1)],
  });

  it.each([
    ['a changed line', changed((text) => text.replace('help', 'serve'))],
    ['a new line', changed((text) => `One more.\n${text}`)],
    ['a missing tool', { ...own, tools: [] }],
    ['no system prompt', { ...own, messages: own.messages.slice(1) }],
  ])('refuses %s in one sentence and writes nothing', (_, body) => {
    const model = ownModel();
    expect(() => completeTokenizer(body, join(dir, 'out'), model)).toThrow(
      expect.objectContaining({
        code: 'PI_PROMPT_DIFFERS',
        message: expect.stringMatching(/^[^.]*pi 9\.9\.9[^.]*\.$/),
      }),
    );
    expect(existsSync(join(dir, 'out'))).toBe(false);
  });
});

const recorded = join(
  packageRoot(),
  '..',
  'shared',
  'fixtures',
  'harness',
  'pi',
  'chat-tool',
  'http',
  '001-chat.request.json',
);
const expectComplete = (body: PiRequestBody) => {
  completeTokenizer(body, dir);
  const tokenizer = tokenizerIn(dir);
  expect(tokenizer.vocabSize).toBe(2048);
  const head = encodePrompt(tokenizer, [body.messages[0]!], body.tools);
  expect(head.length).toBeLessThan(180);
  expect(tokenizer.decode(head)).toContain(String(body.messages[0]!.content));
};

it.skipIf(!existsSync(recorded))('the shipped model fits the recorded prompt of pi 1.6.0', () => {
  expectComplete((JSON.parse(readFileSync(recorded, 'utf8')) as { body: PiRequestBody }).body);
});

it.skipIf(!existsSync(privatePi().cli))(
  'the shipped model fits the prompt of the installed pi',
  { timeout: 40_000 },
  async () => {
    expectComplete(await capturePiPrompt(privatePi()));
  },
);

it('says in one sentence that pi cannot be started', async () => {
  await expect(capturePiPrompt({ node: join(dir, 'no-node'), cli: 'x' })).rejects.toMatchObject({
    code: 'HARNESS_MISSING',
  });
  await expect(capturePiPrompt({ node: process.execPath, cli: join(dir, 'no-cli.js') })).rejects.toMatchObject({
    code: 'HARNESS_MISSING',
    message: expect.stringContaining('exit code 1'),
  });
});
