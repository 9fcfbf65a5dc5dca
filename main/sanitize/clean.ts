/**
 * What may leave the machine. Whatever writes an export or a task takes a `CleanDocument`, and only `cleanDocument` makes one: its
 * constructor is private, and asks for a key that no other file has.
 */
import { createHash } from 'node:crypto';
import { TackroomError } from '../../contract/errors.js';
import { type Registry, STANDARD } from './detect/registry.js';
import { RULE_SET } from './rule-set.js';
import { SanitizeContext, sanitizeBytes } from './sanitize.js';

const KEY = Symbol('made by the sanitizer');
let make: <T>(text: string, facts: CleanFacts) => CleanDocument<T>;

/** How the copy was made. Stays on this machine: whoever knows the copy could try values against a hash of what it was made from. */
export interface CleanFacts {
  /** Rule set of the program. */
  rules: string;
  /** sha256 of the document before. */
  inputSha256: string;
  /** Replaced places. */
  places: number;
}

export class CleanDocument<T = unknown> {
  readonly #text: string;
  readonly facts: Readonly<CleanFacts>;

  private constructor(key: symbol, text: string, facts: CleanFacts) {
    if (key !== KEY) throw new TypeError('Only the sanitizer makes clean documents.');
    this.#text = text;
    this.facts = Object.freeze({ ...facts });
  }

  static {
    make = <M>(text: string, facts: CleanFacts) => new CleanDocument<M>(KEY, text, facts);
  }

  /** At run time: whether the sanitizer made it. */
  static is(value: unknown): value is CleanDocument {
    return typeof value === 'object' && value !== null && #text in value;
  }

  /** A copy: what is done to it does not change the document. */
  value(): T {
    return JSON.parse(this.#text) as T;
  }

  /** As it is written to a file. */
  text(): string {
    return `${JSON.stringify(JSON.parse(this.#text), null, 2)}\n`;
  }
}

export interface CleanOptions {
  /** The detectors with the user's rules; absent: the detectors alone. */
  registry?: Registry;
  /** Says in the document that it was sanitized, and with which rule set. */
  mark?: boolean;
  /** What the document is called in errors. */
  name: string;
}

/** The cleaned copy of a JSON document. Errors: REFUSED when a rule keeps it in, or a look at the copy still finds something. */
export function cleanDocument<T extends object>(
  document: T,
  { registry = STANDARD, mark = false, name }: CleanOptions,
): CleanDocument<T> {
  const input = Buffer.from(recordsOf(document).join('\n'));
  const { bytes, withheld, findings } = sanitizeBytes(input, new SanitizeContext(), registry);
  if (withheld.length > 0)
    throw new TackroomError(
      'REFUSED',
      `The cleaned copy of ${name} still looks as if it held something private.`,
      'Look at it on the Clean screen or with `tackroom sessions show`; --raw writes a local file.',
    );
  const copy = documentOf(bytes.toString().split('\n'));
  const inputSha256 = createHash('sha256').update(input).digest('hex');
  const text = JSON.stringify(mark ? marked(copy) : copy);
  return make(text, { rules: RULE_SET, inputSha256, places: findings.length });
}

interface Stepped {
  steps?: unknown;
  extra?: unknown;
}

/** What stands around the steps, then each step: a record is looked at by itself, and withheld by itself. */
function recordsOf(document: Stepped): string[] {
  const { steps } = document;
  if (!Array.isArray(steps)) return [JSON.stringify(document)];
  return [JSON.stringify({ ...document, steps: [] }), ...steps.map((step) => JSON.stringify(step))];
}

function documentOf([head, ...steps]: string[]): Stepped {
  const document = JSON.parse(head!) as Stepped;
  return Array.isArray(document.steps)
    ? { ...document, steps: steps.map((step) => JSON.parse(step) as unknown) }
    : document;
}

function marked(document: Stepped): Stepped {
  const extra = objectOf(document.extra);
  const tackroom = { ...objectOf(extra.tackroom), sanitized: true, sanitizer: { rules: RULE_SET } };
  return { ...document, extra: { ...extra, tackroom } };
}

const objectOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
