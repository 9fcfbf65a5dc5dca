/** Checks the normalizer, pre-tokenizer, post-processor and decoder of a `tokenizer.json` before anything is built of them. */
import type { Step } from './pre-tokenizer.js';
import { isSafePattern } from './safe-pattern.js';
import { damaged, quoted, unsupported } from './token-limits.js';

export type StepKind = 'normalizer' | 'pre_tokenizer' | 'post_processor' | 'decoder';

/** Where a Sequence keeps its steps. */
const CHILDREN = {
  normalizer: 'normalizers',
  pre_tokenizer: 'pretokenizers',
  post_processor: 'processors',
  decoder: 'decoders',
} as const;

const MAX_DEPTH = 8;
const MAX_STEPS = 128;
/** UTF-16 units of a text that is looked for or put in. */
const MAX_TEXT = 64;
/** How much longer than the text all replacements together may make it. */
const MAX_GROWTH = 32;
const BEHAVIORS = ['Removed', 'Isolated', 'MergedWithPrevious', 'MergedWithNext', 'Contiguous'];

interface Count {
  steps: number;
  growth: number;
}

/** The steps as they are. Throws TOKENIZER_MISMATCH for damage, MODEL_UNSUPPORTED for what is not run here. */
export function checkedSteps(value: unknown, kind: StepKind): Step | null {
  if (value === undefined || value === null) return null;
  check(value, kind, 0, { steps: 0, growth: 1 });
  return value as Step;
}

function check(value: unknown, kind: StepKind, depth: number, count: Count): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || typeof (value as Step).type !== 'string')
    throw damaged(`has a ${kind} that is no object with a type`);
  const step = value as Step;
  if (depth > MAX_DEPTH || ++count.steps > MAX_STEPS) throw unsupported(`its ${kind} has too many steps`);
  if (step.type === 'Sequence') {
    const children = step[CHILDREN[kind]];
    if (!Array.isArray(children)) throw damaged(`has a ${kind} of type Sequence without ${CHILDREN[kind]}`);
    for (const child of children) check(child, kind, depth + 1, count);
  } else if (kind === 'normalizer' || kind === 'pre_tokenizer') {
    checkOptions(step, kind, count);
  }
}

/** Decoders and post-processors are only read; these run. Types that are not listed have no option that matters, or are refused by the library. */
function checkOptions(step: Step, kind: StepKind, count: Count): void {
  const { type } = step;
  if (type === 'Split') {
    checkPattern(step, kind);
    if (!BEHAVIORS.includes(step.behavior as string))
      throw damaged(`has a Split with the behavior ${quoted(step.behavior)}`);
  } else if (type === 'Replace') {
    const shortest = checkPattern(step, kind);
    const added = text(step, 'content', '').length;
    grow(count, shortest === 0 ? added + 1 : added / shortest);
  } else if (type === 'Prepend') {
    grow(count, 1 + text(step, 'prepend').length);
  } else if (type === 'Metaspace') {
    text(step, 'replacement', '\u2581');
    grow(count, text(step, 'str_rep', '').length + 1);
  } else if (type === 'FixedLength') {
    if (!Number.isInteger(step.length) || (step.length as number) < 1)
      throw damaged(`has a FixedLength of ${quoted(step.length)}`);
  }
}

/** Returns the length of the shortest match; an expression may match nothing at all. */
function checkPattern(step: Step, kind: StepKind): number {
  const pattern = step.pattern as { String?: unknown; Regex?: unknown } | undefined;
  if (typeof pattern !== 'object' || pattern === null) throw damaged(`has a ${step.type} without a pattern`);
  const { String: literal, Regex: regex } = pattern;
  if (typeof regex === 'string') {
    if (isSafePattern(regex)) return 0;
    throw unsupported(`its ${kind} uses an expression that is not known here, ${quoted(regex)}`);
  }
  if (typeof literal !== 'string' || literal === '') throw damaged(`has a ${step.type} without a pattern`);
  if (literal.length > MAX_TEXT) throw unsupported(`its ${kind} looks for a text of ${literal.length} characters`);
  return literal.length;
}

function text(step: Step, key: string, absent?: string): string {
  const value = step[key] ?? absent;
  if (typeof value !== 'string') throw damaged(`has a ${step.type} whose ${key} is no text`);
  if (value.length > MAX_TEXT) throw unsupported(`it puts in a text of ${value.length} characters`);
  // JavaScript would read these as references to the match and what lies around it.
  if (/\$[$&`'<\d]/.test(value)) throw unsupported(`it puts in ${quoted(value)}`);
  return value;
}

function grow(count: Count, factor: number): void {
  count.growth *= Math.max(1, factor);
  if (count.growth > MAX_GROWTH) throw unsupported('its steps make texts much longer');
}
