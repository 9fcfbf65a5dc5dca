/** All detectors over one decoded string, and over what is percent- or base64-encoded in it. */

import { findBlocks } from './blocks.js';
import { findKeyValues, valueOfKey } from './key-values.js';
import type { KnownValues } from './known-values.js';
import { matchesOf } from './matches.js';
import { findPersonal } from './personal.js';
import { findPlaces } from './places.js';
import { resolveSpans, type Span } from './span.js';
import { findTokens } from './tokens.js';
import { findUrlSecrets } from './urls.js';
import { type Leaf, leavesOf, percentView, rawAt, rawView, type View } from './view.js';

/** Spans of one line, in offsets of that line, without overlaps. `known`: values learnt before, found as such. */
export function detectLine(line: string, known?: KnownValues): Span[] {
  return resolveSpans(leavesOf(rawView(line)).flatMap((leaf) => detectLeaf(leaf, known)));
}

function detectLeaf({ view, key }: Leaf, known: KnownValues | undefined): Span[] {
  const out = toRaw(view, detectText(view.text, key, known));
  const decoded = percentView(view);
  if (decoded) out.push(...toRaw(decoded, detectText(decoded.text, key, known)));
  return out;
}

function detectText(text: string, key: string, known: KnownValues | undefined): Span[] {
  return [...(key ? valueOfKey(key, text) : []), ...plainSpans(text, known), ...encodedSpans(text, known)];
}

function plainSpans(text: string, known: KnownValues | undefined): Span[] {
  return [
    ...findTokens(text),
    ...findBlocks(text),
    ...findKeyValues(text),
    ...findUrlSecrets(text),
    ...findPersonal(text),
    ...findPlaces(text),
    ...(known?.find(text) ?? []),
  ];
}

const BASE64_RUN = /(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{20,20000}={0,2}(?![A-Za-z0-9+/=])/g;

/** A run of base64 whose text holds something is replaced as a whole. */
function encodedSpans(text: string, known: KnownValues | undefined): Span[] {
  const out: Span[] = [];
  for (const match of matchesOf(BASE64_RUN, text)) {
    const value = match[0];
    const decoded = Buffer.from(value, 'base64').toString('latin1');
    if (decoded.length < 12 || !/^[\t\n\r -~]+$/.test(decoded)) continue;
    if (resolveSpans(plainSpans(decoded, known)).length > 0)
      out.push({
        start: match.index,
        end: match.index + value.length,
        family: 'base64-secret',
        certainty: 'shape',
        value,
      });
  }
  return out;
}

function toRaw(view: View, spans: Span[]): Span[] {
  return spans.map((span) => ({ ...span, start: rawAt(view, span.start), end: rawAt(view, span.end) }));
}
