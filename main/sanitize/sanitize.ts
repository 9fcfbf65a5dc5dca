/**
 * Replaces secrets and personal data in session records. Works on the decoded strings of each line and splices stand-ins
 * (letters, digits, `_.@:+-` only, so no escaping is needed at any depth) into the original bytes; all else stays byte for
 * byte. Every output is scanned again; a line that still holds something is withheld. Semantics: specs sanitizer 5.
 */
import { TackroomError } from '../../contract/errors.js';
import { type Registry, STANDARD } from './detect/registry.js';
import { SanitizeEngine } from './engine.js';
import { endOfLine, linesWith } from './lines.js';
import { CONTINUED, Pseudonyms } from './pseudonyms.js';
import { Ranges } from './ranges.js';
import { DENIED } from './rules.js';
import { SecondScan } from './second/second-scan.js';

export interface RedactionSummary {
  family: string;
  placeholder: string;
  occurrences: number;
}
/** One replaced range; never the value. */
export interface Finding {
  /** From 0. */
  line: number;
  /** Bytes of the input line. */
  start: number;
  end: number;
  family: string;
  certainty: string;
  placeholder: string;
}
export interface Sanitized {
  bytes: Buffer;
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

/** Lines of one session. As many lines come out as go in. Errors: REFUSED when a rule of the user keeps the session in. */
export function sanitizeBytes(
  input: Uint8Array,
  context = new SanitizeContext(),
  registry: Registry = STANDARD,
): Sanitized {
  const { pseudonyms } = context;
  const engine = new SanitizeEngine(pseudonyms, registry);
  const again = new SanitizeEngine(pseudonyms, registry);
  const second = new SecondScan(pseudonyms);
  try {
    const found = engine.detect(input);
    refuseDenied(pseudonyms);
    engine.learn();
    const ranges = engine.complete(input, found);
    const findings = findingsOf(input, ranges, pseudonyms);
    const { bytes, withheld } = passSecondScan(rescan(engine.splice(input, ranges), again), second);
    return { bytes, redactions: summaries(pseudonyms), findings, withheld };
  } finally {
    engine.close();
    again.close();
    second.close();
  }
}

/** Errors: REFUSED, naming the rule and not what it found. */
export function refuseDenied(pseudonyms: Pseudonyms): void {
  const denied = pseudonyms.entities().find(({ family }) => family.startsWith(DENIED));
  if (denied)
    throw new TackroomError(
      'REFUSED',
      `The session holds what the rule "${denied.family.slice(DENIED.length)}" keeps in.`,
      'Leave the session out, or change the rule.',
    );
}

export const summaries = (pseudonyms: Pseudonyms): RedactionSummary[] =>
  pseudonyms
    .entities()
    .filter(({ family }) => family !== CONTINUED)
    .map(({ family, placeholder, occurrences }) => ({ family, placeholder, occurrences }));

/** Scans cleaned lines again. What is still found is replaced once more; a line where that does not help is withheld. */
export function rescan(clean: Buffer, again: SanitizeEngine, firstLine = 0): { bytes: Buffer; withheld: number[] } {
  let bytes = clean;
  let left = new Ranges();
  for (let round = 1; round < ROUNDS; round++) {
    left = again.detect(bytes);
    if (left.length === 0) return { bytes, withheld: [] };
    if (round === ROUNDS - 1) break;
    again.learn();
    bytes = again.splice(bytes, again.complete(bytes, left));
  }
  const withheld = linesWith(bytes, left.places());
  return { bytes: withhold(bytes, new Set(withheld), firstLine), withheld };
}

/** The look by other code at cleaned lines: those in which it finds something are withheld too. */
export function passSecondScan(
  { bytes, withheld }: { bytes: Buffer; withheld: number[] },
  second: SecondScan,
  firstLine = 0,
): { bytes: Buffer; withheld: number[] } {
  const more = second.lines(bytes);
  if (more.length === 0) return { bytes, withheld };
  return {
    bytes: withhold(bytes, new Set(more), firstLine),
    withheld: [...new Set([...withheld, ...more])].sort((a, b) => a - b),
  };
}

/** One text; the stand-ins are those of `context`. Null: the second scan still found something, so it must not be shown. */
export function sanitizeText(text: string, context = new SanitizeContext()): string | null {
  const { bytes, withheld } = sanitizeBytes(Buffer.from(text), context);
  return withheld.length > 0 ? null : bytes.toString();
}

/** JSON records of one session. A record that fails the second scan becomes `{"tackroom_withheld": true, …}`. */
export function sanitizeSession<T>(
  records: readonly T[],
  context = new SanitizeContext(),
  registry: Registry = STANDARD,
): { records: T[]; redactions: RedactionSummary[]; withheld: number[] } {
  const input = Buffer.from(records.map((record) => JSON.stringify(record)).join('\n'));
  const { bytes, redactions, withheld } = sanitizeBytes(input, context, registry);
  const lines = records.length === 0 ? [] : bytes.toString().split('\n');
  return { records: lines.map((line) => JSON.parse(line) as T), redactions, withheld };
}

export function findingsOf(input: Uint8Array, ranges: Ranges, pseudonyms: Pseudonyms): Finding[] {
  let line = 0;
  let lineStart = 0;
  // Looked up once a line: a line may be as long as the input.
  let lineEnd = endOfLine(input, 0);
  const findings: Finding[] = [];
  for (let i = 0; i < ranges.length; i++) {
    const start = ranges.start(i);
    for (; lineEnd < start; lineEnd = endOfLine(input, lineStart)) {
      line++;
      lineStart = lineEnd + 1;
    }
    const { family, placeholder } = pseudonyms.entity(ranges.entity(i));
    const certainty = ranges.certainty(i);
    findings.push({ line, start: start - lineStart, end: ranges.end(i) - lineStart, family, certainty, placeholder });
  }
  return findings;
}

function withhold(bytes: Buffer, lines: ReadonlySet<number>, firstLine: number): Buffer {
  const all = bytes.toString('latin1').split('\n');
  return Buffer.from(
    all
      .map((line, i) => (lines.has(i) ? withheldLine(firstLine + i) + (line.endsWith('\r') ? '\r' : '') : line))
      .join('\n'),
    'latin1',
  );
}

function withheldLine(number: number): string {
  return JSON.stringify({ tackroom_withheld: true, line: number, reason: 'the second scan found something' });
}
