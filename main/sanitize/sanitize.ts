/**
 * Replaces secrets and personal data in session records. Works on the decoded strings of each line and splices stand-ins
 * (letters, digits, `_.@:+-` only, so no escaping is needed at any depth) into the original text; all else stays byte for
 * byte. Every output is scanned again; a line that still holds something is withheld. Semantics: specs sanitizer 5.
 */
import { detectLine } from './detect.js';
import { KnownValues } from './known-values.js';
import { type Entity, Pseudonyms } from './pseudonyms.js';
import type { Span } from './span.js';

export interface RedactionSummary {
  family: string;
  placeholder: string;
  occurrences: number;
}
/** One replaced range; never the value. */
export interface Finding {
  /** From 0. */
  line: number;
  /** UTF-16 range in the input line. */
  start: number;
  end: number;
  family: string;
  certainty: string;
  placeholder: string;
}
export interface SanitizedLines {
  lines: string[];
  redactions: RedactionSummary[];
  findings: Finding[];
  /** Numbers of the lines that failed the second scan. */
  withheld: number[];
}

/** Keeps stand-ins the same over several texts of one session. */
export class SanitizeContext {
  readonly pseudonyms = new Pseudonyms();
}

const ROUNDS = 3;

/** Lines of one session. As many lines come out as go in. */
export function sanitizeLines(lines: readonly string[], context = new SanitizeContext()): SanitizedLines {
  const { pseudonyms } = context;
  for (const line of lines) pseudonyms.reserve(line);
  for (const line of lines) for (const span of detectLine(line)) pseudonyms.of(span.family, span.value);
  const learnt = new KnownValues(pseudonyms.entities());
  const findings: Finding[] = [];
  let current = lines.map((line, number) => {
    const spans = detectLine(line, learnt);
    return splice(line, spans, pseudonyms, (span, entity) =>
      findings.push({
        line: number,
        start: span.start,
        end: span.end,
        family: entity.family,
        certainty: span.certainty,
        placeholder: entity.placeholder,
      }),
    );
  });
  let dirty: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const known = new KnownValues(pseudonyms.entities());
    dirty = [];
    current = current.map((line, number) => {
      const spans = detectLine(line, known);
      if (spans.length === 0) return line;
      dirty.push(number);
      return round === ROUNDS - 1 ? line : splice(line, spans, pseudonyms, () => undefined);
    });
    if (dirty.length === 0) break;
  }
  for (const number of dirty) current[number] = withheldLine(number);
  const redactions = pseudonyms
    .entities()
    .map(({ family, placeholder, occurrences }) => ({ family, placeholder, occurrences }));
  return { lines: current, redactions, findings, withheld: dirty };
}

/** One text; the stand-ins are those of `context`. Null: the second scan still found something, so it must not be shown. */
export function sanitizeText(text: string, context = new SanitizeContext()): string | null {
  const { lines, withheld } = sanitizeLines([text], context);
  return withheld.length > 0 ? null : lines[0]!;
}

/** JSON records of one session. A record that fails the second scan becomes `{"tackroom_withheld": true, …}`. */
export function sanitizeSession<T>(
  records: readonly T[],
  context = new SanitizeContext(),
): { records: T[]; redactions: RedactionSummary[]; withheld: number[] } {
  const { lines, redactions, withheld } = sanitizeLines(
    records.map((record) => JSON.stringify(record)),
    context,
  );
  return { records: lines.map((line) => JSON.parse(line) as T), redactions, withheld };
}

function splice(
  line: string,
  spans: Span[],
  pseudonyms: Pseudonyms,
  report: (span: Span, entity: Entity) => void,
): string {
  let out = '';
  let at = 0;
  for (const span of spans) {
    const entity = pseudonyms.of(span.family, span.value);
    entity.occurrences++;
    report(span, entity);
    out += line.slice(at, span.start) + entity.placeholder;
    at = span.end;
  }
  return out + line.slice(at);
}

function withheldLine(number: number): string {
  return JSON.stringify({ tackroom_withheld: true, line: number, reason: 'the second scan found something' });
}
