/** A session looked at as its export will be: what is replaced where, what comes out, and whether a person should look at it. */
import { type ErrorShape, TackroomError } from '../../../contract/errors.js';
import { plantCanaries, scoreCanaries } from '../canary.js';
import { CONTINUED } from '../pseudonyms.js';
import { compileFile, type RulesFile } from '../rules.js';
import { type Finding, SanitizeContext, sanitizeBytes } from '../sanitize.js';
import { SanitizeStream } from '../stream.js';
import type { Policy } from './policy.js';
import { type CanaryView, type Kind, summaryOf } from './verdict.js';

export type ReviewPolicy = Pick<Policy, 'rules' | 'confirmed' | 'kept' | 'lookedAt'>;

export interface ReviewKind extends Kind {
  placeholder: string;
  /** A character a byte. */
  value: string;
  /** Number of the first record with it. */
  first: number;
}
export interface ReviewPlace {
  record: number;
  /** Bytes of the record. */
  start: number;
  end: number;
  /** Number in `kinds`. */
  kind: number;
  /** Of a value that came in pieces, not the first: nothing stands for it. */
  rest: boolean;
}
export interface Review {
  kinds: ReviewKind[];
  /** In order. */
  places: ReviewPlace[];
  /** Cleaned records; nothing of a session that a rule keeps in leaves the machine, and yet its copy is shown. */
  clean: Buffer[];
  withheld: ReadonlySet<number>;
  summary: ReturnType<typeof summaryOf>;
}

export interface ReviewOptions {
  policy: ReviewPolicy;
  /** Images in the session: no copy holds any. */
  images: number;
  /** Where a long session is put aside. */
  folder: string;
  onProgress?(phase: 'find' | 'replace' | 'canary', done: number, total: number): void;
}

/** Family of what a rule keeps in, where it is shown. */
export const DENY_SHOWN = 'deny ';
/** The beginning of the session, for the fakes. */
const CANARY_BYTES = 1 << 20;

/** Errors: IO, DISK_FULL. */
export function reviewRecords(records: readonly Buffer[], options: ReviewOptions): Review {
  const { policy, images } = options;
  const { copy, denied } = copyOf(records, options);
  options.onProgress?.('canary', 0, 1);
  const canary = canaryOf(records, policy.rules);
  const summary = summaryOf({
    kinds: copy.kinds,
    denied,
    withheld: copy.withheld.size,
    records: records.length,
    touched: new Set(copy.places.map(({ record }) => record)).size,
    places: copy.places.length,
    joined: copy.joined,
    images,
    canary,
    policy,
  });
  return { ...copy, summary };
}

type Copy = Omit<Review, 'summary'> & { joined: number };

/** A session that a rule keeps in is looked at all the same: what the rule found is shown as replaced. */
function copyOf(records: readonly Buffer[], options: ReviewOptions): { copy: Copy; denied: string[] } {
  const { rules } = options.policy;
  try {
    return { copy: cleaned(records, rules, options), denied: [] };
  } catch (error) {
    if ((error as ErrorShape).code !== 'REFUSED') throw error;
  }
  const named = rules.deny.map((rule) => ({ ...rule, name: `${DENY_SHOWN}${rule.name}`.slice(0, 41) }));
  const copy = cleaned(records, { ...rules, entities: [...named, ...rules.entities], deny: [] }, options);
  const found = new Set(copy.kinds.map(({ family }) => family));
  return { copy, denied: named.flatMap(({ name }, i) => (found.has(name) ? rules.deny[i]!.name : [])) };
}

function cleaned(records: readonly Buffer[], rules: RulesFile, options: ReviewOptions): Copy {
  const { folder, onProgress } = options;
  const stream = new SanitizeStream(folder, compileFile(rules, 'Your rules'));
  try {
    records.forEach((record, i) => {
      stream.push(record);
      stream.push(NEWLINE);
      onProgress?.('find', i + 1, records.length);
    });
    const found: Finding[] = [];
    const withheld = new Set<number>();
    const pieces: Buffer[] = [];
    const total = records.reduce((sum, { length }) => sum + length + 1, 0);
    let done = 0;
    for (const piece of stream.finish(
      (finding) => found.push(finding),
      (line) => withheld.add(line),
    )) {
      pieces.push(piece);
      done += piece.length;
      onProgress?.('replace', Math.min(done, total), total);
    }
    return { ...rowsOf(found, stream), clean: split(Buffer.concat(pieces), records.length), withheld };
  } finally {
    stream.close();
  }
}

function rowsOf(found: readonly Finding[], { pseudonyms }: SanitizeStream): Pick<Copy, 'kinds' | 'places' | 'joined'> {
  const values = new Map(pseudonyms.entities().map(({ family, placeholder, value }) => [placeholder || family, value]));
  const numbers = new Map<string, number>();
  const kinds: ReviewKind[] = [];
  let joined = 0;
  let last = -1;
  const places = found.map(({ line, start, end, family, certainty, placeholder }): ReviewPlace => {
    if (family === CONTINUED && last >= 0) {
      joined++;
      return { record: line, start, end, kind: last, rest: true };
    }
    // Nothing stands for what servers encrypted, and for token ids.
    const name = placeholder || family;
    let kind = numbers.get(name);
    if (kind === undefined) {
      kind = kinds.length;
      numbers.set(name, kind);
      kinds.push({ family, certainty, placeholder, count: 0, value: values.get(name) ?? '', first: line });
    }
    kinds[kind]!.count++;
    last = kind;
    return { record: line, start, end, kind, rest: false };
  });
  return { kinds, places, joined };
}

const NEWLINE = Buffer.from('\n');

function split(bytes: Buffer, count: number): Buffer[] {
  const out: Buffer[] = [];
  let from = 0;
  for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, from)) {
    out.push(bytes.subarray(from, end));
    from = end + 1;
  }
  if (out.length !== count)
    throw new TackroomError('INTERNAL', `The cleaned copy has ${out.length} records where the session has ${count}.`);
  return out;
}

/** null: nothing could be planted. */
function canaryOf(records: readonly Buffer[], rules: RulesFile): CanaryView | null {
  let length = 0;
  const sample: Buffer[] = [];
  for (const record of records) {
    if (length + record.length > CANARY_BYTES) break;
    length += record.length + 1;
    sample.push(record);
  }
  const planted = plantCanaries(Buffer.from(sample.map(String).join('\n')));
  if (planted.fakes.length === 0) return null;
  const registry = compileFile({ ...rules, deny: [] }, 'Your rules');
  const { kinds } = scoreCanaries(sanitizeBytes(planted.bytes, new SanitizeContext(), registry).bytes, planted);
  const sum = (known: boolean): { planted: number; gone: number } =>
    kinds
      .filter((kind) => kind.known === known)
      .reduce((all, kind) => ({ planted: all.planted + kind.planted, gone: all.gone + kind.gone }), {
        planted: 0,
        gone: 0,
      });
  return { known: sum(true), unknown: sum(false), kinds };
}
