/**
 * The user's own rules: names, numbers and words that must go, and words that keep a session in. A file in JSON or YAML:
 *
 *     version: 1
 *     entities:
 *       - { name: project, values: [Falkenstein, "Blue Harbour"] }
 *       - { name: ticket, pattern: 'FALK-\d{3,6}' }
 *     deny:
 *       - { name: contract, pattern: 'strictly confidential' }
 *     keep: [octocat]
 *
 * A value is found in any case and between other words than its own (with `partial` inside words too); a pattern is a regular
 * expression that can be run in linear time and holds a literal, or one is named in `literal`. What is kept stays, whatever detector
 * finds exactly this value.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { parse } from 'yaml';
import { z } from 'zod';
import { TackroomError } from '../../contract/errors.js';
import { type Registry, register, STANDARD } from './detect/registry.js';
import { type Anchored, CHAR, type Detector, isChar, lineStart } from './detect/text-view.js';
import type { Certainty, Span } from './span.js';

const Rule = z
  .strictObject({
    name: z.string().regex(/^[A-Za-z][A-Za-z0-9 _-]{0,40}$/, 'letters, digits, blanks, _ and -'),
    values: z.array(z.string().min(3).max(2000)).min(1).max(10_000).optional(),
    partial: z.boolean().optional(),
    pattern: z.string().min(3).max(500).optional(),
    literal: z.string().min(2).max(100).optional(),
  })
  .refine(
    ({ values, pattern }) => (values === undefined) !== (pattern === undefined),
    'has either values or a pattern',
  );
export const RulesFile = z.strictObject({
  version: z.literal(1),
  entities: z.array(Rule).max(1000).default([]),
  deny: z.array(Rule).max(1000).default([]),
  keep: z.array(z.string().min(1).max(20_000)).max(10_000).default([]),
});
export type RulesFile = z.infer<typeof RulesFile>;
export type Rule = z.infer<typeof Rule>;

/** Family of what keeps a session in. */
export const DENIED = 'denied:';

/** The user's own rules for all sessions. */
export const homeRulesFile = (home: string): string => join(home, 'sanitize-rules.yaml');

/**
 * Rules of the home, where it has any, and those of the file at `path`; undefined: neither. Errors: as `parseRules` and `compileFile`.
 */
export function ownRegistry(home: string, path: string | undefined): Registry | undefined {
  const files = [homeRulesFile(home)].filter((file) => existsSync(file));
  if (path !== undefined) files.push(path);
  if (files.length === 0) return undefined;
  const all = files.map((file) => parseRules(readFileSync(file, 'utf8'), file));
  const joined = {
    version: 1 as const,
    entities: all.flatMap(({ entities }) => entities),
    deny: all.flatMap(({ deny }) => deny),
    keep: all.flatMap(({ keep }) => keep),
  };
  return compileFile(joined, files.join(' and '));
}

export function compileRules(text: string, path: string): Registry {
  return compileFile(parseRules(text, path), path);
}

/** Errors: BAD_ARGUMENT with what is wrong and where. */
export function parseRules(text: string, path: string): RulesFile {
  let value: unknown;
  try {
    value = parse(text, { maxAliasCount: 0 });
  } catch (cause) {
    throw wrong(path, `is neither JSON nor YAML: ${(cause as Error).message.split('\n')[0]}`, cause);
  }
  const file = RulesFile.safeParse(value);
  if (!file.success) {
    const { path: at, message } = file.error.issues[0]!;
    throw wrong(path, `is not a file of rules: ${at.join('.') || 'it'}: ${message}`);
  }
  return file.data;
}

/** `path`: what an error calls it. Errors: BAD_ARGUMENT for a pattern that cannot be run. */
export function compileFile({ entities, deny, keep }: RulesFile, path: string): Registry {
  const own = [
    ...entities.flatMap((rule) => anchored(rule, rule.name, path)),
    ...deny.flatMap((rule) => anchored(rule, `${DENIED}${rule.name}`, path)),
  ];
  const registry = own.length === 0 ? STANDARD : register(own);
  return keep.length === 0 ? registry : { ...registry, keep: new Set(keep.map(bytes)) };
}

/** Bytes of a value that the scan looks for; the rest is compared where they stand. */
const MAX_ANCHOR = 100;
/** Texts are seen as bytes. */
const bytes = (text: string): string => Buffer.from(text).toString('latin1');
const anchor = (text: string): string => bytes(text).slice(0, MAX_ANCHOR).replaceAll(' ', '\u2423');

function anchored(rule: Rule, family: string, path: string): Anchored[] {
  const { values, pattern, literal, name, partial = false } = rule;
  if (values)
    return values.map((value) => ({
      anchors: anchor(value),
      flags: 0,
      detector: ofValue(family, bytes(value), partial),
    }));
  const held = literal ?? literalOf(pattern!);
  if (held === null)
    throw wrong(
      path,
      `has a pattern without a literal of three characters (${name})`,
      undefined,
      'Add `literal:` with a word that every match holds.',
    );
  return [{ anchors: anchor(held), flags: 0, detector: ofPattern(family, linear(pattern!, name, path)) }];
}

/** What keeps a session in is not hidden by what else is found there. */
const certaintyOf = (family: string): Certainty => (family.startsWith(DENIED) ? 'checksum' : 'block');

function ofValue(family: string, value: string, partial: boolean): Detector {
  const certainty = certaintyOf(family);
  const lower = value.toLowerCase();
  return ({ text, spans }, at) => {
    const end = at + value.length;
    if (value.length > MAX_ANCHOR && text.slice(at, end).toLowerCase() !== lower) return;
    if (partial) return void spans.push({ start: at, end, family, certainty, value: lower });
    const words = isChar(value, 0, CHAR.alnum) && isChar(text, at - 1, CHAR.alnum);
    if (words || (isChar(value, value.length - 1, CHAR.alnum) && isChar(text, end, CHAR.alnum))) return;
    spans.push({ start: at, end, family, certainty, value: text.slice(at, end).toLowerCase() });
  };
}

const REACH = 1000;

function ofPattern(family: string, search: RegExp): Detector {
  const certainty = certaintyOf(family);
  return ({ text, spans }, at) => {
    const from = lineStart(text, at, REACH);
    const window = text.slice(from, at + REACH);
    search.lastIndex = 0;
    for (let match = search.exec(window); match && from + match.index <= at; match = search.exec(window)) {
      const start = from + match.index;
      if (match[0] === '') search.lastIndex++;
      else if (start + match[0].length > at) pushLines(spans, start, match[0], family, certainty);
    }
  };
}

/** Line by line: the number of lines never changes. */
function pushLines(spans: Span[], start: number, value: string, family: string, certainty: Certainty): void {
  let at = start;
  for (const line of value.split('\n')) {
    const end = at + line.length;
    if (line !== '') spans.push({ start: at, end, family, certainty, value: line });
    at = end + 1;
  }
}

/** V8's second engine runs in linear time and refuses what it cannot. */
function linear(pattern: string, name: string, path: string): RegExp {
  setFlagsFromString('--enable-experimental-regexp-engine');
  try {
    return new RegExp(bytes(pattern), 'gl');
  } catch (cause) {
    throw wrong(
      path,
      `has a pattern that cannot be run in linear time (${name}): ${(cause as Error).message}`,
      cause,
      'Leave out look-around and references back, and repeats of more than a few hundred.',
    );
  }
}

/** The longest run of plain characters outside brackets and alternatives; null below three. */
function literalOf(pattern: string): string | null {
  if (/(?<!\\)\|/.test(pattern)) return null;
  const plain = pattern
    .replace(/\\[A-Za-z]/g, '\0')
    .replace(/\[(?:\\.|[^\]])*\]|\((?:\\.|[^()])*\)/g, '\0')
    .replace(/\\?.(?:[*?]|\{0?,\d*\}|\{0\})/gs, '\0')
    .replace(/\{\d+(?:,\d*)?\}/g, '\0')
    .replace(/\\(.)/gs, '$1')
    .split(/[\0.^$+{}()[\]]/)
    .sort((a, b) => b.length - a.length)[0]!;
  return plain.length >= 3 ? plain : null;
}

function wrong(
  path: string,
  what: string,
  cause?: unknown,
  hint = 'docs/sanitizer.md shows such a file.',
): TackroomError {
  return new TackroomError('BAD_ARGUMENT', `${path} ${what}.`, hint, { cause });
}
