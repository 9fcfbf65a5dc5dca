import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Work } from '../../main/envs/find-repair.js';
import { writeRepairTask } from '../../main/envs/repair-task.js';
import { Recorder } from '../../main/record/recorder.js';
import { CleanDocument, cleanDocument } from '../../main/sanitize/clean.js';
import { publishable } from '../../main/sanitize/publishable.js';
import { RULE_SET } from '../../main/sanitize/rule-set.js';
import { compileRules } from '../../main/sanitize/rules.js';
import { openStore, type Store } from '../../main/store/store.js';
import { exportSession, rawExport } from '../../main/trajectory/export-session.js';
import { validateAtif } from '../../main/trajectory/validate-atif.js';
import { writeExport, writeRawExport } from '../../main/trajectory/write-export.js';
import { ask, request, say, system, temporaryHome } from '../record/support.js';
import { inventedTokens } from './support.js';

const token = inventedTokens('clean')['github-pat']!;
let home: string;
let remove: () => void;
let store: Store;
let id: string;

beforeEach(() => {
  ({ home, remove } = temporaryHome());
  store = openStore(home);
  const tokens = { promptIds: [11, 12, 13], completionIds: [21, 22], logprobs: [-0.5, -0.25] };
  const said = request([system, ask(`use ${token}`)], say('done'), { tokens, promptTokens: 3, completionTokens: 2 });
  id = new Recorder(store).record(said).sessionId;
});
afterEach(() => {
  store.close();
  remove();
});

describe('a clean document', () => {
  it('is made by the sanitizer alone', () => {
    const target = { path: join(home, 'x.json'), sessionId: id, format: 'atif' };
    // @ts-expect-error the constructor is private
    expect(() => new CleanDocument(Symbol('made by the sanitizer'), '{}', {})).toThrow(TypeError);
    const forged = Object.create(CleanDocument.prototype) as CleanDocument;
    expect(CleanDocument.is(forged)).toBe(false);
    expect(() => writeExport(forged, target)).toThrow(/Only what the sanitizer made/);
    // @ts-expect-error a document that nobody cleaned
    expect(() => writeExport({ extra: { tackroom: { sanitized: true } } }, target)).toThrow(/Only what the sanitizer/);
    // @ts-expect-error what rawExport gives is no clean document
    expect(() => writeExport(rawExport(store, id, 'atif'), target)).toThrow(/Only what the sanitizer made/);
    // @ts-expect-error work that nobody cleaned
    expect(() => writeRepairTask({} as Work, { tests: 1, skipped: 0, summary: null }, home)).toThrow(/sanitizer made/);
    expect(readdirSync(home).some((name) => name.startsWith('x.json'))).toBe(false);
  });

  it('does not change with the copies it gives', () => {
    const clean = cleanDocument({ steps: [{ text: 'a' }] }, { name: 'x' });
    const before = clean.text();
    (clean.value() as { steps: object[] }).steps[0] = { text: token };
    Object.assign(clean.value(), { more: token });
    expect(() => Object.assign(clean.facts, { rules: 'none' })).toThrow(TypeError);
    expect(clean.text()).toBe(before);
  });

  it('keeps the order and number of records, whatever has steps', () => {
    const steps = [{ text: `a ${token}` }, [], 'plain', null, { steps: [1] }];
    expect(cleanDocument({ a: 1, steps, z: token }, { name: 'x' }).value()).toEqual({
      a: 1,
      steps: [{ text: 'a REDACTED_GITHUB_PAT_1' }, [], 'plain', null, { steps: [1] }],
      z: 'REDACTED_GITHUB_PAT_1',
    });
    expect(cleanDocument({ steps: 'none' }, { name: 'x' }).value()).toEqual({ steps: 'none' });
  });

  it('is refused by a rule that keeps it in', () => {
    const registry = compileRules('{"version":1,"deny":[{"name":"contract","values":["blue heron"]}]}', 'r');
    expect(() => cleanDocument({ a: 'the Blue Heron' }, { name: 'x', registry })).toThrow(/"contract" keeps in/);
  });
});

/** Every file of main/ with its text. */
const sources = readdirSync('main', { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => [name.replaceAll('\\', '/'), readFileSync(join('main', name), 'utf8')] as const);
const filesWith = (pattern: RegExp): string[] =>
  sources.flatMap(([name, text]) => (pattern.test(text) ? name : [])).sort();

it('has no second way out: who makes, who writes, who reads sessions uncleaned', () => {
  expect(filesWith(/new CleanDocument\b|Reflect\.construct\(CleanDocument/)).toEqual(['sanitize/clean.ts']);
  expect(filesWith(/\bas (?:unknown as )?CleanDocument\b/)).toEqual([]);
  expect(filesWith(/\btoAtif\(/)).toEqual(['trajectory/export-session.ts', 'trajectory/to-atif.ts']);
  expect(filesWith(/\bsessionDocument\(/)).toEqual(['trajectory/export-session.ts', 'trajectory/session-records.ts']);
  expect(filesWith(/\brawExport\(/)).toEqual(['cli/sessions.ts', 'trajectory/export-session.ts']);
  expect(filesWith(/\bwriteRawExport\(/)).toEqual(['cli/sessions.ts', 'trajectory/write-export.ts']);
  expect(filesWith(/\bwriteTaskFolder\(/)).toEqual([
    'envs/harbor-task.ts',
    'envs/repair-task.ts',
    'envs/task-folder.ts',
  ]);
  expect(filesWith(/\brecordedTrace\(/)).toEqual(['envs/recorded-session.ts', 'envs/session-source.ts']);
});

describe.each(['atif', 'native'])('an export as %s', (format) => {
  it('says that it was sanitized and with which rules, holds no tokens, and is the same every time', () => {
    const clean = exportSession(store, id, { format });
    expect(clean.value()).toMatchObject({ extra: { tackroom: { sanitized: true, sanitizer: { rules: RULE_SET } } } });
    expect(clean.text()).not.toContain(token);
    expect(clean.text()).not.toMatch(/token_ids|logprobs|promptIds|completionIds/);
    expect(clean.text()).not.toContain(clean.facts.inputSha256);
    expect(clean.text()).toBe(exportSession(store, id, { format }).text());
    if (format === 'atif') expect(validateAtif(clean.value())).toEqual([]);
    expect(publishable(clean.text(), 'x').value()).toEqual(clean.value());
  });

  it('raw: says that it is not, has the tokens, and is published by nothing', () => {
    const raw = rawExport(store, id, format);
    expect(raw).toMatchObject({ extra: { tackroom: { sanitized: false } } });
    const text = JSON.stringify(raw);
    expect(text).toContain(token);
    expect(text).toMatch(/"(?:logprobs)":\[-0\.5,-0\.25\]/);
    expect(() => publishable(text, 'x')).toThrow(/must stay on this machine/);
    // Neither without the mark.
    const { extra: _, ...bare } = raw;
    expect(() => publishable(JSON.stringify(bare), 'x')).toThrow(/must stay on this machine/);
    expect(() => writeRawExport(bare, { path: home, sessionId: id, format })).toThrow(/must say/);
  });

  it('is written whole, for this user, under a name that tells', () => {
    const folder = join(home, 'out');
    mkdirSync(folder);
    const target = { path: folder, sessionId: id, format };
    const clean = writeExport(exportSession(store, id, { format }), target);
    const raw = writeRawExport(rawExport(store, id, format), target);
    expect(readdirSync(folder).sort()).toEqual([`${id}.${format}.json`, `${id}.${format}.unsanitized.json`]);
    for (const file of [clean, raw]) expect(statSync(file).mode & 0o777).toBe(0o600);
    writeFileSync(join(folder, 'given.json'), 'before', { mode: 0o644 });
    const given = writeExport(exportSession(store, id, { format }), { ...target, path: join(folder, 'given.json') });
    expect([readFileSync(given, 'utf8'), statSync(given).mode & 0o777]).toEqual([readFileSync(clean, 'utf8'), 0o600]);
    expect(() => writeExport(exportSession(store, id, { format }), { ...target, path: join(home, 'no', 'x') })).toThrow(
      /cannot be written/,
    );
  });
});

it('publishes no text that is no document', () => {
  for (const text of ['', '[]', 'null', '"x"', '{"a":']) expect(() => publishable(text, 'x')).toThrow(/is no JSON/);
  expect(publishable('{"extra":"odd"}', 'x').value()).toMatchObject({ extra: { tackroom: { sanitized: true } } });
});
