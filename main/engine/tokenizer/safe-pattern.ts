/**
 * Which regular expressions of a `tokenizer.json` may run. A backtracking engine can be made to take exponential time by a
 * few characters of pattern, and the file comes from anywhere; so an expression must be one that published models use, or
 * have a shape whose time is linear whatever the text.
 */
import { BYTE_LEVEL_PATTERN, knownPatterns } from './pre-patterns.js';

const CASED_UPPER = '[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]';
const CASED_LOWER = '[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]';
const LEAD = '[^\\r\\n\\p{L}\\p{N}]?';
const ENDINGS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)";
const SPACES = '\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+';

/** Two alternatives: words that end in small letters, words of capitals. */
function casedWords(ending: string): string {
  return `${LEAD}${CASED_UPPER}*${CASED_LOWER}+${ending}|${LEAD}${CASED_UPPER}+${CASED_LOWER}*${ending}`;
}

/** What the tokenizers of published model families cut at. */
const KNOWN = new Set<string>([
  ...knownPatterns(),
  BYTE_LEVEL_PATTERN,
  // OpenAI's cl100k_base with possessive quantifiers, which change nothing here: what follows them is disjoint.
  `'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?+\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]++[\\r\\n]*|\\s*[\\r\\n]|\\s+(?!\\S)|\\s+`,
  // gpt-oss and Llama 4 (o200k_base), and the same without contractions (Mistral's Tekken).
  `${casedWords(`${ENDINGS}?`)}|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|${SPACES}`,
  `${casedWords('')}|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|${SPACES}`,
  // Qwen 3.5: marks belong to words.
  `${ENDINGS}|${LEAD}[\\p{L}\\p{M}]+|\\p{N}| ?[^\\s\\p{L}\\p{M}\\p{N}]+[\\r\\n]*|${SPACES}`,
  // DeepSeek V3 and R1.
  `[!"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_\`{|}~][A-Za-z]+|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\\r\\n]*|${SPACES}`,
  // BLOOM.
  ' ?[^(\\s|[.,!?…。，、।۔،])]+',
]);

const MAX_LENGTH = 512;
const MAX_BRANCHES = 32;
const MAX_ATOMS = 4;
/** One character: a property, an escape, a literal or a class without classes inside. */
const ATOM =
  '\\\\[pP]\\{[A-Za-z_]{1,32}\\}|\\\\[dDsSnrt]|\\\\[^A-Za-z0-9]|[^\\\\[\\](){}|.*+?^$]|\\[\\^?(?:[^[\\]\\\\&]|\\\\.)+\\]';
const PIECE = new RegExp(`(\\|)|(?:${ATOM})(\\?|\\{[1-9](?:,[1-9])?\\})?([+*]|\\{[0-9],\\})?`, 'suy');

/**
 * Whether a pattern takes linear time: it is known, or alternatives of at most four characters, of which only the last
 * may repeat without bound. Nothing follows such a repetition, so it never fails and what it read is never read again.
 */
export function isSafePattern(pattern: string): boolean {
  if (KNOWN.has(pattern)) return true;
  if (pattern === '' || pattern.length > MAX_LENGTH) return false;
  let branches = 1;
  let atoms = 0;
  let ended = false;
  for (PIECE.lastIndex = 0; PIECE.lastIndex < pattern.length; ) {
    const piece = PIECE.exec(pattern);
    if (!piece) return false;
    const [, bar, bounded, unbounded] = piece;
    if (bar) {
      if (atoms === 0 || ++branches > MAX_BRANCHES) return false;
      atoms = 0;
      ended = false;
      continue;
    }
    // `x?+` and `x{2}+` mean different things to different engines.
    if (ended || ++atoms > MAX_ATOMS || (bounded && unbounded)) return false;
    ended = unbounded !== undefined;
  }
  return atoms > 0;
}
