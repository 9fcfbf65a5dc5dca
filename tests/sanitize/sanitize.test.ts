import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { crc32Base62, ibanValid, luhn } from '../../main/sanitize/checksums.js';
import { SanitizeContext, sanitizeSession, sanitizeText } from '../../main/sanitize/sanitize.js';
import { invented, inventedTokens, sanitizeLines } from './support.js';

const tokens = inventedTokens('unit');

describe('checksums', () => {
  test("GitHub's documented example", () => expect(crc32Base62('zQWBuTSOoRi4A9spHcVY5ncnsDkxkJ')).toBe('0mLq17'));
  test('cards and IBANs', () => {
    expect([luhn('4539578763621486'), luhn('4539578763621487')]).toEqual([true, false]);
    expect([ibanValid('GB82WEST12345698765432'), ibanValid('GB82WEST12345698765433')]).toEqual([true, false]);
  });
});

describe('tokens', () => {
  test.each(Object.entries(tokens))('%s', (family, token) => {
    const { lines, redactions } = sanitizeLines([`first ${token} then ${token}`]);
    expect(redactions.map((each) => each.family)).toEqual([family]);
    const stand = `REDACTED_${family.toUpperCase().replaceAll('-', '_')}_1`;
    expect(lines).toEqual([`first ${stand} then ${stand}`]);
  });

  test('public keys and placeholders stay', () => {
    const text = `pk_live_${invented('p', 24)} phc_${invented('q', 43)} ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx sk-\${KEY} Bearer {{token}} API_KEY=*** AKIAIOSFODNN7EXAMPLE`;
    expect(sanitizeText(text)).toBe(text);
  });
});

describe('places', () => {
  const secret = invented('s', 32);
  const cases: [string, string, string][] = [
    ['env', `DB_PASSWORD=${secret}\nPORT=1`, 'DB_PASSWORD=REDACTED_PASSWORD_1\nPORT=1'],
    ['yaml', `api_key: "${secret}"`, 'api_key: "REDACTED_GENERIC_SECRET_1"'],
    ['header', `curl -H 'Authorization: Bearer ${secret}' x`, "curl -H 'Authorization: Bearer REDACTED_"],
    ['user info', `postgres://app:${secret}@db/x`, 'postgres://app:REDACTED_URL_PASSWORD_1@db/x'],
    ['mail', 'ask j.meier@kestrel-bank.de', 'ask person1@example.com'],
    ['home', 'cat /home/jmeier/a /Users/jmeier/b', 'cat /home/user1/a /Users/user1/b'],
    ['windows home', 'C:\\Users\\jmeier\\x', 'C:\\Users\\user1\\x'],
    ['address', 'from 81.2.69.142 to 127.0.0.1', 'from 192.0.2.1 to 127.0.0.1'],
  ];
  test.each(cases)('%s', (_, text, expected) => expect(sanitizeText(text)).toContain(expected));

  test.each([
    'max_tokens: 4096',
    'const token = getToken(user.id);',
    'password: string',
    'git@github.com:a/b.git',
    'version 1.2.3.4',
    'ls /home/user/x',
    '"integrity": "sha512-abcdefABCDEF0123456789"',
    'token == other.token',
    'icon@2x.png',
  ])('stays: %s', (text) => expect(sanitizeText(text)).toBe(text));

  test('a private key keeps its lines', () => {
    const body = [invented('k1', 64), invented('k2', 64), `${invented('k3', 20)}==`];
    const text = `-----BEGIN RSA PRIVATE KEY-----\n${body.join('\n')}\n-----END RSA PRIVATE KEY-----\nafter`;
    const out = sanitizeText(text)!;
    expect(out.split('\n')).toHaveLength(6);
    for (const line of body) expect(out).not.toContain(line.slice(0, 16));
    expect(out).toMatch(/^-----BEGIN RSA PRIVATE KEY-----\n[\s\S]*-----END RSA PRIVATE KEY-----\nafter$/);
  });
});

describe('sessions', () => {
  const token = tokens['github-pat']!;

  test('a value learnt in one record goes everywhere, with one stand-in', () => {
    const records = [
      { cwd: '/home/jmeier/app' },
      {
        role: 'assistant',
        tool_calls: [
          {
            function: {
              name: 'bash',
              arguments: JSON.stringify({ command: `curl -H "Authorization: token ${token}" x`, note: 'by jmeier' }),
            },
          },
        ],
      },
      {
        role: 'tool',
        content: JSON.stringify({
          url: `https://x/?q=${encodeURIComponent(`a ${token}`)}`,
          b: Buffer.from(`token is ${token} ok`).toString('base64'),
        }),
      },
    ];
    const out = sanitizeSession(records);
    const text = JSON.stringify(out.records);
    expect(out.withheld).toEqual([]);
    expect(text).not.toContain(token.slice(4));
    expect(text).not.toContain('jmeier');
    const args = JSON.parse(
      (out.records[1] as { tool_calls: { function: { arguments: string } }[] }).tool_calls[0]!.function.arguments,
    ) as { note: string };
    expect(args.note).toBe('by user1');
    expect((out.records[0] as { cwd: string }).cwd).toBe('/home/user1/app');
    expect(out.redactions.find((each) => each.family === 'github-pat')!.occurrences).toBe(2);
  });

  test('one context keeps the stand-ins over several texts', () => {
    const context = new SanitizeContext();
    expect(sanitizeText('/home/jmeier/a', context)).toBe('/home/user1/a');
    expect(sanitizeText('/home/kweber/a', context)).toBe('/home/user2/a');
    expect(sanitizeText('/home/jmeier/b', context)).toBe('/home/user1/b');
  });

  test.each<[string, (text: string) => object]>([
    ['text-delta', (delta) => ({ type: 'text-delta', delta })],
    ['Anthropic', (text) => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })],
    ['Chat Completions', (content) => ({ id: 'c', choices: [{ index: 0, delta: { content } }] })],
    ['arguments', (text) => ({ choices: [{ delta: { tool_calls: [{ index: 0, function: { arguments: text } }] } }] })],
    ['Codex', (delta) => ({ timestamp: 't', type: 'event_msg', payload: { type: 'agent_message_delta', delta } })],
  ])('a token that comes in pieces: %s', (_, record) => {
    const lines = ['a "b" ', `t: ${token.slice(0, 11)}`, token.slice(11, 20), `${token.slice(20)} ok`, 'the end'];
    const out = sanitizeLines(lines.map((text) => JSON.stringify(record(text))));
    const pieces = ['a "b" ', 't: REDACTED_GITHUB_PAT_1', '', ' ok', 'the end'];
    expect(out.lines).toEqual(pieces.map((text) => JSON.stringify(record(text))));
    expect(out.redactions.map(({ placeholder }) => placeholder)).toEqual(['REDACTED_GITHUB_PAT_1']);
  });

  test('what is no secret stays byte for byte', () => {
    const line = `{"10": 1.0, "2":1e3 , "big":12345678901234567890, "u":"\\u0041\\/", "k":"${token}"}`;
    expect(sanitizeLines([line]).lines[0]).toBe(line.replace(token, 'REDACTED_GITHUB_PAT_1'));
  });
});

describe('properties', () => {
  const token = fc.constantFrom(...Object.values(tokens));
  const wrap = fc.constantFrom<(text: string) => string>(
    (text) => text,
    (text) => JSON.stringify({ a: text }),
    (text) => JSON.stringify([JSON.stringify({ [text]: text })]),
    (text) => JSON.stringify({ args: JSON.stringify({ inner: JSON.stringify([text]) }) }),
    (text) => JSON.stringify({ url: `https://h/?x=${encodeURIComponent(text)}` }),
    (text) => JSON.stringify({ data: Buffer.from(`prefix text ${text} suffix`).toString('base64') }),
  );
  const around = fc.string({ maxLength: 30 });

  test('no planted token survives in any form, and JSON stays JSON', () => {
    fc.assert(
      fc.property(around, token, around, wrap, (before, secret, after, form) => {
        const line = form(`${before} ${secret} ${after}`);
        const { lines } = sanitizeLines([line]);
        const out = lines[0]!;
        expect(out).not.toContain(secret);
        // By hand: not every percent form is UTF-8.
        const decoded = out.replace(/%([0-9A-Fa-f]{2})/g, (_, hex: string) =>
          String.fromCharCode(Number.parseInt(hex, 16)),
        );
        expect(decoded).not.toContain(secret);
        for (const run of out.match(/[A-Za-z0-9+/]{24,}={0,2}/g) ?? [])
          expect(Buffer.from(run, 'base64').toString('latin1')).not.toContain(secret);
        if (line.startsWith('{') || line.startsWith('[{') || line.startsWith('["')) {
          let valid = true;
          try {
            JSON.parse(line);
          } catch {
            valid = false;
          }
          if (valid) JSON.parse(out);
        }
      }),
      { numRuns: 120 },
    );
  });

  test('a second run changes nothing', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(around, token, wrap), { maxLength: 4 }), (parts) => {
        const once = sanitizeLines(
          parts.map(([text, secret, form]) => form(`${text} PASSWORD=${secret} /home/jmeier/${text}`)),
        ).lines;
        expect(sanitizeLines(once).lines).toEqual(once);
      }),
      { numRuns: 60 },
    );
  });

  test('any text comes out as one line or is withheld; nothing throws', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 400, unit: 'binary' }), (text) => void sanitizeLines([text])),
      { numRuns: 120 },
    );
  });

  test.each([
    '-----BEGIN PRIVATE KEY-----',
    'password=',
    '@a.',
    'eyJ',
    '"',
    '\\',
    '/home/a',
    '%41',
    'xoxb-',
    ':',
    '{"a":',
  ])('%s repeated costs linear time', (piece) => {
    const text = piece.repeat(Math.ceil(400_000 / piece.length));
    const start = process.cpuUsage();
    sanitizeLines([text]);
    const used = process.cpuUsage(start);
    expect((used.user + used.system) / 1000).toBeLessThan(1500);
  });
});
