import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { droppedFields } from '../../main/sanitize/dropped-fields.js';
import { standInImage } from '../../main/sanitize/stand-in-image.js';
import { invented, sanitizeLines } from './support.js';

const noise = (seed: string, bytes: number): Buffer =>
  Buffer.concat(
    Array.from({ length: Math.ceil(bytes / 64) }, (_, i) => createHash('sha512').update(`${seed}/${i}`).digest()),
  ).subarray(0, bytes);
const file = (magic: number[] | string, seed = 'a', bytes = 4000): string =>
  Buffer.concat([Buffer.from(magic as string, 'latin1'), noise(seed, bytes)]).toString('base64');
const PNG = file('\x89PNG\r\n\x1a\n\0\0\0\rIHDR');
const IMAGES: Record<string, string> = {
  png: PNG,
  jpeg: file('\xff\xd8\xff\xe0\0\x10JFIF\0'),
  'jpeg with EXIF': file('\xff\xd8\xff\xe1\0\x10Exif\0'),
  gif: file('GIF89a\x01\0\x01\0'),
  webp: file('RIFF\x24\x10\0\0WEBPVP8 '),
  avif: file('\0\0\0\x20ftypavif'),
};
const OTHERS: Record<string, string> = {
  pdf: file('%PDF-1.7\n'),
  wav: file('RIFF\x24\x10\0\0WAVEfmt '),
  zip: file('PK\x03\x04\x14\0\0\0'),
  mp3: file('ID3\x04\0\0'),
};
const clean = (line: string): string => {
  const { lines, withheld } = sanitizeLines([line]);
  expect(withheld).toEqual([]);
  return lines[0]!;
};
const pixelOf = (value: string, n = 1): string => standInImage(value, n);

/** How programs and servers carry an image. */
const CARRIERS: [name: string, (data: string) => unknown, (record: never) => string][] = [
  [
    'Anthropic',
    (data) => ({ content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data } }] }),
    (r: { content: [{ source: { data: string } }] }) => r.content[0].source.data,
  ],
  [
    'OpenAI',
    (data) => ({ content: [{ type: 'image_url', image_url: { url: `data:image/png;base64,${data}` } }] }),
    (r: { content: [{ image_url: { url: string } }] }) => r.content[0].image_url.url.split(',')[1]!,
  ],
  [
    'pi',
    (data) => ({ message: { content: [{ type: 'image', data, mimeType: 'image/png' }] } }),
    (r: { message: { content: [{ data: string }] } }) => r.message.content[0].data,
  ],
  [
    'opencode',
    (data) => ({ type: 'file', mime: 'image/png', url: `data:image/png;base64,${data}` }),
    (r: { url: string }) => r.url.split(',')[1]!,
  ],
  [
    'Claude Code, a file read',
    (data) => ({ toolUseResult: { type: 'image', file: { base64: data, type: 'image/png' } } }),
    (r: { toolUseResult: { file: { base64: string } } }) => r.toolUseResult.file.base64,
  ],
  [
    'JSON in a string',
    (data) => ({ arguments: JSON.stringify({ image: data }) }),
    (r: { arguments: string }) => (JSON.parse(r.arguments) as { image: string }).image,
  ],
  [
    'a text',
    (data) => ({ text: `see ![](data:image/png;base64,${data})` }),
    (r: { text: string }) => r.text.slice(30, -1),
  ],
];

describe('images', () => {
  it.each(CARRIERS)('as %s carries them become one pixel of their kind', (_, carry, dataOf) => {
    for (const image of Object.values(IMAGES))
      expect(dataOf(JSON.parse(clean(JSON.stringify(carry(image)))) as never)).toBe(pixelOf(image));
  });

  it.each(Object.keys(IMAGES))('%s: what stands for it begins as it did, and says its number', (kind) => {
    const pixel = Buffer.from(pixelOf(IMAGES[kind]!, 12), 'base64').toString('latin1');
    if (kind !== 'avif') expect(pixel.slice(0, 3)).toBe(Buffer.from(IMAGES[kind]!, 'base64').toString('latin1', 0, 3));
    expect(pixel).toContain('REDACTED_IMAGE_12');
    expect(pixelOf(IMAGES[kind]!)).toMatch(/^[A-Za-z0-9+/]+$/);
  });

  it('are numbered by what they are, and a second time nothing changes', () => {
    const other = file('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'b');
    const { lines } = sanitizeLines([{ a: PNG, b: other }, { c: PNG }].map((record) => JSON.stringify(record)));
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
      { a: pixelOf(PNG, 1), b: pixelOf(PNG, 2) },
      { c: pixelOf(PNG, 1) },
    ]);
    expect(sanitizeLines(lines).lines).toEqual(lines);
    // Numbers of an earlier time are not given out again.
    const third = file('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'c');
    const [, , more] = sanitizeLines([...lines, JSON.stringify({ last: third })]).lines;
    expect(JSON.parse(more!)).toEqual({ last: pixelOf(PNG, 3) });
  });

  it('of megabytes go as a whole, also with escaped slashes', () => {
    const big = file('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'big', 3_000_000);
    expect(JSON.parse(clean(JSON.stringify({ data: big })))).toEqual({ data: pixelOf(big) });
    const escaped = `{"data":"${PNG.replaceAll('/', '\\/')}"}`;
    expect(JSON.parse(clean(escaped))).toEqual({ data: pixelOf(PNG) });
  });

  it('in lines: each line stays one, in a text and in a string', () => {
    const cut = PNG.match(/.{1,76}/g)!;
    const { lines } = sanitizeLines(['$ base64 shot.png', ...cut, 'done']);
    expect(lines).toEqual(['$ base64 shot.png', pixelOf(PNG), ...cut.slice(1).map(() => ''), 'done']);
    expect(JSON.parse(clean(JSON.stringify({ text: cut.join('\n') })))).toEqual({
      text: `${pixelOf(PNG)}${'\n'.repeat(cut.length - 1)}`,
    });
  });

  it('of the size of an icon stay in code, and go where they are all there is', () => {
    const icon = file('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'icon', 2000);
    const other = file('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'other', 2000);
    const css = `.i{background:url(data:image/png;base64,${icon})}`;
    expect(JSON.parse(clean(JSON.stringify({ css, url: `data:image/png;base64,${other}` })))).toEqual({
      css,
      url: `data:image/png;base64,${pixelOf(other)}`,
    });
  });

  it('that are hardly more than a pixel stay, and so does what only begins like one', () => {
    for (const text of [
      pixelOf(PNG),
      'iVBORw0KGgo is how a PNG begins',
      `see /9j/${'a b '.repeat(200)}`,
      PNG.slice(0, 200),
    ])
      expect(clean(JSON.stringify({ text }))).toBe(JSON.stringify({ text }));
  });
});

it.each(Object.keys(OTHERS))('other files, such as %s, go too', (kind) => {
  expect(JSON.parse(clean(JSON.stringify({ source: { type: 'base64', data: OTHERS[kind] } })))).toEqual({
    source: { type: 'base64', data: 'REDACTED_ATTACHMENT_1' },
  });
});

describe('signatures of reasoning', () => {
  const cipher = noise('cipher', 600).toString('base64');
  const url = `gAAAAA${invented('fernet', 900, 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_')}==`;
  const long = noise('long', 30_000).toString('base64');
  const records: [string, (value: string) => unknown][] = [
    ['Anthropic', (v) => ({ content: [{ type: 'thinking', thinking: 'so', signature: v }] })],
    ['Anthropic, redacted', (v) => ({ content: [{ type: 'redacted_thinking', data: v }] })],
    ['pi', (v) => ({ content: [{ type: 'thinking', thinking: 'so', thinkingSignature: v }] })],
    ['pi, a tool call', (v) => ({ content: [{ type: 'toolCall', name: 'ls', thoughtSignature: v }] })],
    ['pi, a text', (v) => ({ content: [{ type: 'text', text: 'so', textSignature: v }] })],
    ['Gemini', (v) => ({ parts: [{ functionCall: { name: 'ls' }, thought_signature: v }] })],
    ['Responses', (v) => ({ payload: { type: 'reasoning', summary: [], encrypted_content: v } })],
    ['OpenRouter', (v) => ({ reasoning_details: [{ type: 'reasoning.encrypted', data: v, index: 0 }] })],
    ['hermes', (v) => ({ codex_reasoning_items: JSON.stringify([{ type: 'reasoning', encrypted_content: v }]) })],
    [
      'pi, an item of Responses',
      (v) => ({ thinkingSignature: JSON.stringify({ type: 'reasoning', encrypted_content: v }) }),
    ],
  ];
  it.each(records)('%s: empty afterwards', (_, make) => {
    for (const value of [cipher, url, long]) expect(JSON.parse(clean(JSON.stringify(make(value))))).toEqual(make(''));
  });

  it.each([
    [
      'a function',
      { signature: 'def sanitize(text: str, context: Context | None = None) -> Optional[Sanitized]: ...' },
    ],
    ['a field name that pi keeps there', { thinkingSignature: 'reasoning_content' }],
    ['an id', { textSignature: 'msg_68a1f0c2d3e4' }],
    ['data of another block', { type: 'chunk', data: 'abcDEF0123456789'.repeat(6) }],
  ])('%s is none', (_, record) => {
    expect(JSON.parse(clean(JSON.stringify(record)))).toEqual(record);
  });
});

describe('token ids and log-probabilities', () => {
  it.each<[string, unknown, unknown]>([
    [
      'ATIF',
      { metrics: { prompt_tokens: 3, prompt_token_ids: [1, 2, 3], completion_token_ids: [4], logprobs: [-0.5] } },
      { metrics: { prompt_tokens: 3, prompt_token_ids: [], completion_token_ids: [], logprobs: [] } },
    ],
    [
      'our native form',
      { promptIds: [1], completionIds: [2, 3], logprobs: [-1e-5, null] },
      { promptIds: [], completionIds: [], logprobs: [] },
    ],
    [
      'Chat Completions',
      {
        choices: [
          {
            logprobs: {
              content: [{ token: 'gh', logprob: -0.1, bytes: [103], top_logprobs: [{ token: 'p_', logprob: -2 }] }],
            },
            finish_reason: 'stop',
          },
        ],
      },
      { choices: [{ logprobs: {}, finish_reason: 'stop' }] },
    ],
    [
      'vLLM',
      { prompt_logprobs: [null, { '5': { logprob: -1 } }], token_ids: [[1, 2], [3]] },
      { prompt_logprobs: [], token_ids: [] },
    ],
    [
      'Completions',
      { logprobs: { tokens: ['a', 'b]'], token_logprobs: [-1, -2], text_offset: [0, 1] } },
      { logprobs: {} },
    ],
  ])('%s: the lists are empty', (_, record, expected) => {
    expect(JSON.parse(clean(JSON.stringify(record)))).toEqual(expected);
    expect(JSON.parse(clean(JSON.stringify(record, null, 1).replaceAll('\n', ' ')))).toEqual(expected);
  });

  it.each([
    [{ logprobs: true, top_logprobs: 5 }],
    [{ properties: { logprobs: { type: 'boolean' }, token_ids: { type: 'array', items: { type: 'integer' } } } }],
    [{ logprobs: null, token_ids: [] }],
    [{ userIds: [1, 2, 3], orderIds: ['a'] }],
    [{ text: 'it has "token_ids": [1, 2]' }],
  ])('%j stays', (record) => {
    expect(clean(JSON.stringify(record))).toBe(JSON.stringify(record));
  });

  it('stay in code, and take no more time however often a list is begun', () => {
    const code = 'const reply = {"token_ids": [1, 2, 3]};';
    expect(clean(code)).toBe(code);
    for (const bomb of [
      '{"logprobs":[1,'.repeat(140_000),
      '{"a":"logprobs":[1]'.repeat(100_000),
      '"token_ids" '.repeat(150_000),
    ]) {
      const began = process.cpuUsage();
      droppedFields(Buffer.from(bomb), 0, bomb.length);
      const { user, system } = process.cpuUsage(began);
      expect((user + system) / 1e6).toBeLessThan(1);
    }
  });

  it('are left alone where the record ends within them', () => {
    for (const text of ['{"token_ids":[1,2,3', '{"logprobs":{"content":[{"token":"a', '"logprobs"', '"logprobs":'])
      expect(clean(text)).toBe(text);
  });
});
