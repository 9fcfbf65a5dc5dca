/** Scores a sanitizer of lines on the own cases, in every wrap. */
import { Random } from '../../engine/tokenizer/fuzz-random.js';
import { contextCases } from './cases-context.js';
import { negativeCases } from './cases-negative.js';
import { personalCases } from './cases-personal.js';
import { shapeCases } from './cases-shape.js';
import { structuralCases } from './cases-structural.js';
import type { OwnCase } from './mark.js';
import { type Wrapped, wrapAll } from './wrap.js';

const SEED = 20_260_203;
const WINDOW = 8;
/** Up to this much beside a label, in one place, is a neighbouring quote or word, not text lost. */
const SPILL = 8;

export interface Failure {
  id: string;
  wrap: string;
  what: 'miss' | 'partial' | 'false' | 'over-reach' | 'changed' | 'invalid';
  /** What was left or lost, shortened. */
  excerpt: string;
}
export interface ClassScore {
  cases: number;
  lines: number;
  spans: number;
  gone: number;
  /** Changed regions that touch a label, and those that touch none. */
  right: number;
  wrong: number;
  overReach: number;
  /** Lines of negatives that changed. */
  changed: number;
  invalid: number;
}
export interface Score {
  classes: Record<string, ClassScore>;
  failures: Failure[];
}

/** Every class has its own generator: a case added to one leaves the values of the others. */
export function allCases(): OwnCase[] {
  const classes = [shapeCases, contextCases, structuralCases, personalCases, negativeCases];
  return classes.flatMap((cases, i) => cases(new Random(SEED, i)));
}

export function allLines(cases: readonly OwnCase[] = allCases()): { own: OwnCase; wrapped: Wrapped }[] {
  return cases.flatMap((own, i) => wrapAll(own, new Random(SEED, 1000 + i)).map((wrapped) => ({ own, wrapped })));
}

export function score(sanitize: (line: string) => string, lines = allLines()): Score {
  const classes: Record<string, ClassScore> = {};
  const failures: Failure[] = [];
  const seen = new Set<string>();
  for (const { own, wrapped } of lines) {
    const name = own.id.slice(0, own.id.indexOf('/'));
    classes[name] ??= {
      cases: 0,
      lines: 0,
      spans: 0,
      gone: 0,
      right: 0,
      wrong: 0,
      overReach: 0,
      changed: 0,
      invalid: 0,
    };
    const tally = classes[name];
    tally.lines++;
    if (!seen.has(own.id)) tally.cases++;
    seen.add(own.id);
    const out = sanitize(wrapped.line);
    const fail = (what: Failure['what'], excerpt: string): void => {
      failures.push({ id: own.id, wrap: wrapped.wrap, what, excerpt: excerpt.slice(0, 80) });
    };
    if (wrapped.wrap !== 'plain' && !parses(out)) {
      tally.invalid++;
      fail('invalid', out);
    }
    const kept = outside(wrapped);
    for (const span of wrapped.spans) {
      tally.spans++;
      const core = wrapped.line.slice(...span.core);
      const left = leftOf(core, out, kept);
      if (left === null) tally.gone++;
      else fail(left === core ? 'miss' : 'partial', left);
    }
    if (out === wrapped.line) continue;
    if (wrapped.spans.length === 0) tally.changed++;
    // Where words were only put in, no region of the input is missing.
    const pieces = changedRegions(wrapped.line, out);
    const regions = joined(pieces);
    if (wrapped.spans.length === 0 && regions.length === 0) fail('changed', out);
    let spill = '';
    for (const [start, end] of regions) {
      const touches = wrapped.spans.some((span) => start < span.end && span.start < end);
      if (touches) {
        tally.right++;
        const outer = pieces
          .filter((piece) => piece[0] >= start && piece[1] <= end)
          .map((piece) => spilled(...piece, wrapped))
          .join('');
        if (outer.length > spill.length) spill = outer;
      } else {
        tally.wrong++;
        fail(wrapped.spans.length === 0 ? 'changed' : 'false', wrapped.line.slice(start, end));
      }
    }
    if (spill.length > SPILL) {
      tally.overReach++;
      fail('over-reach', spill);
    }
  }
  return { classes, failures };
}

function parses(line: string): boolean {
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false;
  }
}

/** The text between the labels. */
function outside({ line, spans }: Wrapped): string {
  let out = '';
  let at = 0;
  for (const { start, end } of spans) {
    out += `${line.slice(at, start)}\0`;
    at = end;
  }
  return out + line.slice(at);
}

/** What a changed region took from outside the labels. */
function spilled(start: number, end: number, { line, spans }: Wrapped): string {
  let out = '';
  let at = start;
  for (const span of spans) {
    if (span.end <= start || span.start >= end) continue;
    out += line.slice(at, Math.max(at, span.start));
    at = span.end;
  }
  return out + line.slice(at, Math.max(at, end));
}

/** What of `core` is still in `out`; null where nothing is. A text that also stands outside the labels tells nothing. */
function leftOf(core: string, out: string, kept: string): string | null {
  if (core.length < 12) return standsIn(core, out) && !standsIn(core, kept) ? core : null;
  if (out.includes(core) && !kept.includes(core)) return core;
  for (let i = 0; i + WINDOW <= core.length; i++) {
    const window = core.slice(i, i + WINDOW);
    if (/\\|^(.)\1*$/.test(window)) continue;
    if (out.includes(window) && !kept.includes(window)) return window;
  }
  return null;
}

/** As a word of its own: a short name may well be part of a longer word. An escape such as `\n` may stand in front. */
function standsIn(word: string, text: string): boolean {
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
    const before = text.slice(Math.max(0, at - 2), at);
    const joined = /[A-Za-z0-9]$/.test(before) && !before.startsWith('\\');
    if (!joined && !/[A-Za-z0-9]/.test(text[at + word.length] ?? '')) return true;
  }
  return false;
}

/** Regions of `before` that are not in `after`, by a longest common subsequence of words. */
export function changedRegions(before: string, after: string): [number, number][] {
  const [a, b] = [words(before), words(after)];
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a.at(-1 - tail) === b.at(-1 - tail)) tail++;
  const kept = commonWords(a.slice(head, a.length - tail), b.slice(head, b.length - tail));
  const regions: [number, number][] = [];
  let at = a.slice(0, head).join('').length;
  for (const [i, word] of a.slice(head, a.length - tail).entries()) {
    const last = regions.at(-1);
    if (!kept.has(i)) {
      if (last && at === last[1]) last[1] = at + word.length;
      else regions.push([at, at + word.length]);
    }
    at += word.length;
  }
  return regions;
}

/** Regions of one replacement: it may share a sign or two with what it replaced. */
function joined(pieces: readonly [number, number][]): [number, number][] {
  const out: [number, number][] = [];
  for (const [start, end] of pieces) {
    const last = out.at(-1);
    if (last && start - last[1] <= 3) last[1] = end;
    else out.push([start, end]);
  }
  return out;
}

/** An escape is a word of its own: the letter of `\\n` is no part of the word behind it. */
const words = (text: string): string[] => text.match(/\\+[nrt"]|[A-Za-z0-9]+|[^A-Za-z0-9]/g) ?? [];

/** Which words of `a` a longest common subsequence with `b` keeps. */
function commonWords(a: readonly string[], b: readonly string[]): Set<number> {
  const kept = new Set<number>();
  const width = b.length + 1;
  const lengths = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      lengths[i * width + j] =
        a[i] === b[j]
          ? lengths[(i + 1) * width + j + 1]! + 1
          : Math.max(lengths[(i + 1) * width + j]!, lengths[i * width + j + 1]!);
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    if (a[i] === b[j]) {
      kept.add(i++);
      j++;
    } else if (lengths[(i + 1) * width + j]! >= lengths[i * width + j + 1]!) i++;
    else j++;
  }
  return kept;
}
