import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync } from 'vite';
import { expect, it } from 'vitest';
import { STANDARD } from '../../main/sanitize/detect/registry.js';
import { TOKEN_FAMILIES } from '../../main/sanitize/detect/token-families.js';
import { RULE_SET } from '../../main/sanitize/rule-set.js';

const FOLDER = 'main/sanitize';
const FILES = [
  ...readdirSync(join(FOLDER, 'detect')).map((name) => join(FOLDER, 'detect', name)),
  ...['value-gates.ts', 'pseudonyms.ts', 'dropped-fields.ts', 'stand-in-image.ts'].map((name) => join(FOLDER, name)),
].sort();

/** Expressions, words and numbers of a file: what it looks for, however it is written around them. */
function literalsOf(file: string): string[] {
  const found = new Set<string>();
  const visit = (node: unknown): void => {
    if (Array.isArray(node)) for (const one of node) visit(one);
    if (typeof node !== 'object' || node === null || Array.isArray(node)) return;
    const { type, raw, value } = node as { type?: string; raw?: string; value?: unknown };
    if (type === 'ImportDeclaration') return;
    if (type === 'Literal' && typeof raw === 'string' && !/^[01]$/.test(raw)) found.add(raw);
    if (type === 'TemplateElement') found.add((value as { raw: string }).raw);
    for (const below of Object.values(node)) visit(below);
  };
  visit(parseSync(file, readFileSync(file, 'utf8')).program);
  return [...found].sort();
}

const { literals, flags } = STANDARD.tables;
const sha = (text: string): string => createHash('sha256').update(text).digest('hex');
const state = [
  `rule set ${RULE_SET}`,
  `anchors ${sha(`${Buffer.from(literals).toString('latin1')} ${flags.join()}`)}`,
  `token families ${sha(JSON.stringify(TOKEN_FAMILIES))}`,
  `expressions ${sha(JSON.stringify(FILES.map(literalsOf)))}`,
  '',
].join('\n');

it('changes its version with what it looks for', () => {
  const kept = readFileSync('tests/fixtures/sanitize/rule-set.txt', 'utf8');
  expect(
    state,
    'What the sanitizer looks for has changed: raise RULE_SET in main/sanitize/rule-set.ts, so that older exports are shown as stale, and put these lines into tests/fixtures/sanitize/rule-set.txt',
  ).toBe(kept);
});

it('sees expressions, words and numbers', () => {
  const gates = literalsOf('main/sanitize/value-gates.ts');
  expect(gates).toEqual(expect.arrayContaining(["'${'", '2.6', '300']));
  expect(gates.filter((literal) => literal.startsWith('/')).length).toBeGreaterThan(10);
});

it('is a version that can be told from others', () => {
  expect(RULE_SET).toMatch(/^20\d\d\.\d{1,2}\.\d+$/);
});
