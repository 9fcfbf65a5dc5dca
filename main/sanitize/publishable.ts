/** The one way for a file to be published: what is marked as unsanitized is refused, everything else is cleaned once more. */
import { TackroomError } from '../../contract/errors.js';
import { type CleanDocument, cleanDocument } from './clean.js';
import type { Registry } from './detect/registry.js';

/** The mark that `sessions export --raw` leaves. */
export const UNSANITIZED = { tackroom: { sanitized: false } } as const;

/** Token ids and log-probabilities decode to the original text: where they are, nothing was sanitized. */
const EXACT_TOKENS = new Set([
  'prompt_token_ids',
  'completion_token_ids',
  'token_ids',
  'logprobs',
  'top_logprobs',
  'promptIds',
  'completionIds',
]);

/** Errors: BAD_ARGUMENT for a text that is no JSON object; REFUSED when it is unsanitized, by its mark or by what it holds. */
export function publishable(text: string, name: string, registry?: Registry): CleanDocument {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch (cause) {
    throw new TackroomError('BAD_ARGUMENT', `${name} is no JSON document.`, undefined, { cause });
  }
  if (typeof document !== 'object' || document === null || Array.isArray(document))
    throw new TackroomError('BAD_ARGUMENT', `${name} is no JSON object.`);
  if (saysUnsanitized(document) || holdsTokens(document, 0))
    throw new TackroomError(
      'REFUSED',
      `${name} is a raw export: it was never sanitized and must stay on this machine.`,
      'Export the session without --raw.',
    );
  return cleanDocument(document, { name, mark: true, registry });
}

function saysUnsanitized(document: object): boolean {
  const { extra } = document as { extra?: { tackroom?: { sanitized?: unknown } | null } | null };
  return extra?.tackroom?.sanitized === false;
}

const DEEPEST = 64;
function holdsTokens(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null || depth > DEEPEST) return false;
  if (Array.isArray(value)) return value.some((item) => holdsTokens(item, depth + 1));
  return Object.entries(value).some(
    ([key, item]) => (EXACT_TOKENS.has(key) && isFilled(item)) || holdsTokens(item, depth + 1),
  );
}

const isFilled = (item: unknown): boolean =>
  Array.isArray(item) ? item.length > 0 : typeof item === 'object' && item !== null;
