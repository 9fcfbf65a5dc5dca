import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { Registry } from '../../../main/sanitize/detect/registry.js';
import { STANDARD } from '../../../main/sanitize/detect/registry.js';
import { SanitizeContext, sanitizeBytes } from '../../../main/sanitize/sanitize.js';
import { findByForeignRules } from '../../../main/sanitize/second/foreign-rules.js';
import { rulesFor } from '../../../main/sanitize/second/literal-filter.js';
import { NOT_USED, presetNames, RULES, USED } from '../../../main/sanitize/second/secretlint-rules.js';
import { describeShared } from '../../support/shared.js';
import { allLines } from '../own/score.js';
import { invented } from '../support.js';

const part = (name: string, length: number, alphabet?: string): string => invented(`rule ${name}`, length, alphabet);
const DIGITS = '0123456789';
const HEX = '0123456789abcdef';
const UPPER = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
const begin = (what: string, kind: string): string => `-----${what} ${kind}PRIVATE KEY-----`;
const pem = (kind: string, width: number): string => {
  const body = `MI${part(`pem ${kind}`, 254)}`.match(new RegExp(`.{1,${width}}`, 'g'))!.join('\n');
  return `${begin('BEGIN', kind)}\n${body}\n${begin('END', kind)}`;
};
const opsToken = `ops_${Buffer.from(JSON.stringify({ email: part('mail', 40), secretKey: part('key', 60) })).toString('base64')}`;

/** What each rule finds, invented when the test runs. */
const SAMPLES: Record<string, string[]> = {
  aws: [
    ...['AKIA', 'ASIA', 'AROA', 'A3TX'].map((start) => `id ${start}${part(start, 16, UPPER)} end`),
    `AWS_SECRET_ACCESS_KEY=${part('aws', 40)}`,
    `secretAccessKey: "${part('aws 2', 40)}"`,
  ],
  privatekey: [pem('RSA ', 64), pem('', 76)],
  npm: [
    `npm_${part('npm', 36)}`,
    `https://${part('oauth', 40, HEX)}:x-oauth-basic@github.com/a/b`,
    `//r.example.org/:_authToken=${part('npmrc', 36, HEX)}`,
  ],
  basicauth: [`https://deploy:${part('basic', 14)}@git.example.org/a.git`],
  slack: [
    `xoxb-${part('slack', 12, DIGITS)}-${part('slack 2', 24)}`,
    `https://hooks.slack.com/services/T${part('hook', 9)}/B${part('hook 2', 9)}/${part('hook 3', 24)}`,
  ],
  sendgrid: [`SG.${part('sendgrid', 22)}.${part('sendgrid 2', 43)}`],
  shopify: ['shppa_', 'shpca_', 'shpat_', 'shpss_'].map((start) => start + part(start, 32, HEX)),
  github: [
    ...['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'].map((start) => start + part(start, 36)),
    `github_pat_${part('pat', 82)}`,
  ],
  gitlab: [`glpat-${part('gitlab', 20)}`],
  grafana: [`glc_${part('glc', 60)}`, `glsa_${part('glsa', 32)}_${part('glsa 2', 8, HEX)}`],
  openai: [`sk-proj-${part('openai', 74)}T3Blbk${'FJ'}${part('openai 2', 74)}`],
  anthropic: [`sk-ant-api03-${part('anthropic', 93)}AA`],
  groq: [`gsk_${part('groq', 52)}`],
  huggingface: [`hf_${part('hf', 34, UPPER)}`],
  linear: [`lin_api_${part('linear', 40)}`],
  notion: [`ntn_${part('notion', 11, DIGITS)}${part('notion 2', 35)}`],
  '1password': [opsToken],
  'database-connection-string': [
    `mongodb+srv://app:${part('mongo', 12)}@db.example.org/x`,
    `jdbc:mysql://app:${part('mysql', 12)}!@db:3306/x`,
    `POSTGRES://app:${part('postgres', 12)}$.@10.1.2.3/x`,
  ],
  'hashicorp-vault': [`hvs.${part('hvs', 95)}`, `hvb.${part('hvb', 140)}`, `hvr.${part('hvr', 95)}`],
  vercel: ['vcp_', 'vci_', 'vca_', 'vcr_', 'vck_'].map((start) => start + part(start, 24)),
  databricks: [`dapi${part('dapi', 32, HEX)}`],
  docker: [`dckr_pat_${part('docker', 27)}`],
  figma: [`figd_${part('figma', 40)}`],
};

const inJson = (text: string): string => JSON.stringify(text).slice(1, -1);
const coded = (text: string): string =>
  Array.from(text, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');
/** A line each, with the text as different programs write it. */
const LINES: Record<string, (text: string) => string> = {
  'in a record': (text) => JSON.stringify({ type: 'message', content: `see:\n${text}\nend` }),
  'in a record in a record': (text) =>
    JSON.stringify({ arguments: JSON.stringify({ command: `echo "\n${text}"` }), n: 1 }),
  'in a record with escaped slashes': (text) => `{"text":"${inJson(`x\n${text} y`).replaceAll('/', '\\/')}"}`,
  'as codes of characters': (text) => `{"text":"${coded(`x\n${text}`)}"}`,
  'as codes in a damaged record': (text) => `{"text":"${coded(`x\n${text}`)}`,
  'in code': (text) => JSON.stringify({ content: `const key = "a\\n${inJson(text)}\\n";` }),
  'as a part of a URL': (text) => `open https://example.org/?next=${encodeURIComponent(`x ${text} y`)}&a=1`,
};
const lines = (text: string): number => findByForeignRules(Buffer.from(text)).length;

test('every rule of the preset is used, or left out for a reason', () => {
  expect([...Object.keys(USED), ...Object.keys(NOT_USED)].sort()).toEqual(presetNames().sort());
  expect(Object.keys(SAMPLES).sort()).toEqual(Object.keys(USED).sort());
});

describe('what the rules find', () => {
  for (const { name, run } of RULES)
    test(name, () => {
      for (const sample of SAMPLES[name]!) {
        // Told from chance: nothing else in these lines makes a rule speak.
        expect(run(`\n${sample}\n`).length, sample).toBeGreaterThan(0);
        const bit = 1 << RULES.findIndex((rule) => rule.name === name);
        expect(rulesFor(Buffer.from(`xx ${sample} y`)) & bit, sample).not.toBe(0);
        expect(lines(sample), sample).toBeGreaterThan(0);
        for (const [how, line] of Object.entries(LINES))
          expect(lines(line(sample)), `${how}: ${sample}`).toBeGreaterThan(0);
      }
    });

  test('nothing in the same lines without it', () => {
    for (const line of Object.values(LINES)) expect(lines(line('nothing to see'))).toBe(0);
  });

  test('the text switches no rule off', () => {
    const sample = SAMPLES.github![0]!;
    expect(
      lines(`// secretlint-disable\n// secretlint-disable-next-line -- x\n${sample} // secretlint-disable-line`),
    ).toBe(1);
  });

  test('in a long line, wherever it stands', () => {
    for (const at of [0, 40_000, 49_140, 65_520, 131_000, 300_000]) {
      const line = `{"t":"${'x '.repeat(at / 2)} ${SAMPLES.github![0]!} ${'y '.repeat(100_000)}"}`;
      expect(lines(line), `${at}`).toBeGreaterThan(0);
    }
  });
});

describe('what is kept', () => {
  test('stand-ins, places for values, and what is public by design', () => {
    for (const text of [
      'https://deploy:REDACTED_URL_PASSWORD_1@git.example.org/a.git',
      'postgres://app:REDACTED_URL_PASSWORD_12@db.example.org/x',
      '//r.example.org/:_authToken=REDACTED_NPM_TOKEN_1\nsave-exact=true',
      '_authToken=$' + '{NPM_TOKEN}',
      'git+https://REDACTED_GITHUB_PAT_1:x-oauth-basic@github.com/a/b',
      'SLACK_TOKEN=xoxb-your-token',
      `ghp_${'x'.repeat(36)}`,
      `hf_${'X'.repeat(34)}`,
      `AWS_SECRET_ACCESS_KEY=${'*'.repeat(40)}`,
      'AWS_ACCOUNT_ID=123456789012',
      ['AKIA', 'IOSFODNN7EXAMPLE'].join(''),
      `pk_live_${part('public', 24)}`,
      `${begin('BEGIN', 'RSA ')}\nREDACTED_PRIVATE_KEY_1\n${begin('END', 'RSA ')}`,
    ])
      expect(lines(text), text).toBe(0);
  });

  test('a stand-in elsewhere in the URL excuses no password', () => {
    expect(lines(`https://deploy:${part('other', 14)}@git.example.org/REDACTED_URL_PASSWORD_1`)).toBe(1);
    expect(lines(`_authToken=${part('other 2', 36, HEX)} REDACTED_NPM_TOKEN_1`)).toBe(1);
  });

  test('no case of our own is withheld', { timeout: 120_000 }, () => {
    const step = process.env.TACKROOM_ALL_WRAPS ? 1 : 7;
    for (const { own, wrapped } of allLines().filter((_, i) => i % step === 0))
      expect(sanitizeBytes(Buffer.from(wrapped.line)).withheld, `${own.id} in ${wrapped.wrap}`).toEqual([]);
  });
});

/** What a detector that fails would leave. */
const BLIND: Registry = { ...STANDARD, detectors: STANDARD.detectors.map(() => () => undefined) };

describe('in the whole, with detectors that find nothing', () => {
  test('a line with a secret is withheld', () => {
    for (const sample of Object.values(SAMPLES).flat()) {
      const input = `{"a":1}\n${JSON.stringify({ text: sample })}\n{"b":2}\n`;
      const { bytes, withheld } = sanitizeBytes(Buffer.from(input), new SanitizeContext(), BLIND);
      expect(withheld, sample).toEqual([1]);
      const out = bytes.toString().split('\n');
      expect([out[0], out[2], out.length]).toEqual(['{"a":1}', '{"b":2}', 4]);
      expect(JSON.parse(out[1]!)).toMatchObject({ tackroom_withheld: true });
    }
  });

  test('all lines of a key in plain text are', () => {
    const { withheld } = sanitizeBytes(Buffer.from(`a\n${pem('EC ', 64)}\nz\n`), new SanitizeContext(), BLIND);
    expect(withheld).toEqual([1, 2, 3, 4, 5, 6]);
  });
});

test('what a rule could run long on costs linear time', () => {
  const bombs = [
    'SG.a.'.repeat(40_000),
    'https://a:'.repeat(20_000),
    `${begin('BEGIN', '')}\n`.repeat(8_000),
    `${begin('BEGIN', '')}${'A'.repeat(200_000)}`,
    `xoxb-${'a-'.repeat(100_000)}`,
    '_authToken='.repeat(20_000),
    'mongodb://a:'.repeat(20_000),
    `secretAccessKey${' '.repeat(200_000)}`,
    `{"a":"${'\\u0041'.repeat(40_000)}"}`,
    `${'['.repeat(100_000)}ghp_`,
  ];
  for (const bomb of bombs) {
    const began = process.cpuUsage();
    lines(bomb);
    const { user, system } = process.cpuUsage(began);
    expect((user + system) / 1e6, bomb.slice(0, 30)).toBeLessThan(2);
  }
});

describeShared('the corpus and the rules of others', (shared) => {
  const dir = mkdtempSync(join(tmpdir(), 'second-corpus-'));
  afterAll(() => rmSync(dir, { recursive: true, force: true }));
  execFileSync('tar', ['xzf', join(shared, 'corpus', 'sanitize.tar.gz'), '-C', dir]);
  const texts = (file: string): string[] =>
    readFileSync(join(dir, file), 'utf8')
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { text: string }).text);

  test('what the filter lets by is all that the rules would find', () => {
    let found = 0;
    for (const text of [...texts('positive/shared.jsonl'), ...texts('negative/shared.jsonl')]) {
      const all = RULES.filter(({ run }) => run(text).length > 0).map(({ name }) => name);
      const filtered = rulesFor(Buffer.from(text));
      for (const name of all) expect(filtered & (1 << RULES.findIndex((rule) => rule.name === name)), name).not.toBe(0);
      found += all.length;
    }
    expect(found).toBeGreaterThan(100);
  });

  test('no case and no session is withheld', () => {
    for (const text of [...texts('positive/shared.jsonl'), ...texts('negative/shared.jsonl')])
      expect(sanitizeBytes(Buffer.from(text)).withheld, text.slice(0, 200)).toEqual([]);
    const sessions = join(dir, 'sessions', 'shared');
    for (const file of readdirSync(sessions).filter((name) => name.endsWith('.jsonl')))
      expect(sanitizeBytes(readFileSync(join(sessions, file))).withheld, file).toEqual([]);
  });
});
