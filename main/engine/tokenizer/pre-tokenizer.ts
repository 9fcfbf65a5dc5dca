/** Pre-tokenizers and normalizers of a `tokenizer.json`, run by `@huggingface/tokenizers`. */
import { Tokenizer as LibraryTokenizer } from '@huggingface/tokenizers';
import { BYTE_LEVEL_PATTERN } from './pre-patterns.js';

/** A part of a `tokenizer.json`: a `type` and what belongs to it. */
export interface Step {
  type: string;
  pretokenizers?: Step[];
  normalizers?: Step[];
  decoders?: Step[];
  processors?: Step[];
  [key: string]: unknown;
}

/** Cuts a stretch of text between added tokens; `first` when nothing stands before it. */
export type Cut = (text: string, first: boolean) => readonly string[];

/** A Split that keeps its matches and what lies between them. */
export function splitAt(pattern: string): Step {
  return { type: 'Split', pattern: { Regex: pattern }, behavior: 'Isolated', invert: false };
}

/** Bytes as their printable stand-ins, without cutting. */
export const BYTE_LETTERS_STEP: Step = { type: 'ByteLevel', add_prefix_space: false, use_regex: false };

/**
 * The library's ByteLevel and Digits use JavaScript's `\s` and `\d`, which differ from the reference in U+FEFF, U+0085
 * and every digit outside ASCII; a Split with the same expression does not.
 */
function exact(step: Step): Step {
  if (step.type === 'Sequence') return { ...step, pretokenizers: (step.pretokenizers ?? []).map(exact) };
  if (step.type === 'Digits') return splitAt(step.individual_digits === true ? '\\p{N}' : '\\p{N}+');
  if (step.type === 'ByteLevel' && step.use_regex !== false && step.add_prefix_space !== true)
    return { type: 'Sequence', pretokenizers: [splitAt(BYTE_LEVEL_PATTERN), { ...step, use_regex: false }] };
  return step;
}

/** Throws (an error of the library) for a step it does not know. */
export function makeCut(normalizer: Step | null, preTokenizer: Step | null): Cut {
  // The library builds these steps only as part of a whole tokenizer.
  const library = new LibraryTokenizer(
    {
      normalizer,
      pre_tokenizer: preTokenizer && exact(preTokenizer),
      model: { type: 'BPE', vocab: {}, merges: [] },
      post_processor: null,
      decoder: null,
      added_tokens: [],
    },
    {},
  );
  return (text, first) => {
    const normal = library.normalizer ? library.normalizer.normalize(text) : text;
    if (normal === '') return [];
    const { pre_tokenizer: cutter } = library;
    return cutter ? cutter.pre_tokenize(normal, { section_index: first ? 0 : 1 }) : [normal];
  };
}

/** Every step of a tree of Sequences, in order. */
export function flatSteps(step: Step | null | undefined): Step[] {
  if (!step) return [];
  if (step.type !== 'Sequence') return [step];
  return (step.pretokenizers ?? step.normalizers ?? step.decoders ?? []).flatMap(flatSteps);
}
