/** Runs the rules that others wrote on the lines of cleaned text in which they could find anything. */

import { textsOf } from './line-texts.js';
import { findLiterals, HIDDEN, rulesFor } from './literal-filter.js';
import { type Found, RULES } from './secretlint-rules.js';

const NEWLINE = 10;
/** Longer lines are looked at in pieces that share so much; what the rules look for is shorter. */
const PIECE = 64 << 10;
const SHARED = 16 << 10;

export interface ForeignFinding {
  start: number;
  end: number;
  rule: string;
  messageId: string;
}

/** A line or a piece of one, and which rules to run on it. */
interface Candidate {
  start: number;
  end: number;
  rules: number;
}

export function findByForeignRules(bytes: Buffer): ForeignFinding[] {
  const findings: ForeignFinding[] = [];
  for (const { start, end, rules } of candidates(bytes)) {
    const found = inTexts(bytes.toString('utf8', start, end), rules);
    if (found) findings.push({ start, end, rule: found.rule, messageId: found.messageId });
    else findings.push(...inManyLines(bytes, start, end, rules));
  }
  return findings;
}

function candidates(bytes: Buffer): Candidate[] {
  const out: Candidate[] = [];
  let lineStart = 0;
  let lineEnd = -1;
  findLiterals(bytes, (at, rules) => {
    if (at > lineEnd) {
      lineStart = bytes.lastIndexOf(NEWLINE, at) + 1;
      const newline = bytes.indexOf(NEWLINE, at);
      lineEnd = newline < 0 ? bytes.length : newline;
    }
    for (const piece of piecesWith(at, lineStart, lineEnd)) {
      const known = out.findLast(({ start }) => start <= piece.start);
      if (known?.start === piece.start) known.rules |= rules;
      else out.push({ ...piece, rules });
    }
  });
  return out;
}

/** The line itself, or the one or two pieces that hold `at`. */
function piecesWith(at: number, lineStart: number, lineEnd: number): { start: number; end: number }[] {
  if (lineEnd - lineStart <= PIECE) return [{ start: lineStart, end: lineEnd }];
  const step = PIECE - SHARED;
  const number = Math.floor((at - lineStart) / step);
  const starts = [number - 1, number].filter((n) => n >= 0).map((n) => lineStart + n * step);
  return starts
    .filter((start) => at < start + PIECE)
    .map((start) => ({ start, end: Math.min(start + PIECE, lineEnd) }));
}

function inTexts(line: string, rules: number): Found | undefined {
  for (const text of textsOf(line)) {
    const more = (rules & HIDDEN) === 0 ? 0 : rulesFor(Buffer.from(text));
    const found = run(text, rules | more);
    if (found) return found;
  }
  return undefined;
}

function run(text: string, rules: number): Found | undefined {
  for (const [i, rule] of RULES.entries()) {
    const found = (rules & (1 << i)) === 0 ? undefined : rule.run(text)[0];
    if (found) return found;
  }
  return undefined;
}

/** A block of plain text that begins in the line. */
function inManyLines(bytes: Buffer, start: number, end: number, rules: number): ForeignFinding[] {
  const out: ForeignFinding[] = [];
  for (const [i, rule] of RULES.entries()) {
    if (!rule.manyLines || (rules & (1 << i)) === 0) continue;
    const begin = bytes.subarray(start, end).indexOf('-----BEGIN');
    if (begin < 0 || end - start > PIECE) continue;
    for (const found of rule.run(bytes.toString('latin1', start, end + SHARED)))
      out.push({ ...found, start: start + found.start, end: start + found.end });
  }
  return out;
}
