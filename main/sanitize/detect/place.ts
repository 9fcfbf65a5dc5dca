/** Detectors made of an expression that is tried on the line around an anchor. */
import { AnchorFlag } from '../scan/layout.js';
import type { Certainty } from '../span.js';
import { isPasswordValue, isTokenValue } from '../value-gates.js';
import { add } from './people.js';
import { type Anchored, type Detector, lineStart, type TextView } from './text-view.js';

export type Put = (view: TextView, start: number, value: string) => void;

export const secret =
  (family: string, accept: (value: string) => boolean, certainty: Certainty = 'block'): Put =>
  (view, start, value) => {
    if (accept(value) && !/^(?:REDACTED|\$[({]|\$\w+$|<|%\w|\*\*)/.test(value))
      view.spans.push({ start, end: start + value.length, family, certainty, value });
  };
export const personal =
  (family: string, accept: (value: string) => boolean = () => true): Put =>
  (view, start, value) => {
    if (accept(value)) add(view, start, value, family);
  };
export const password = (value: string): boolean => isPasswordValue(value, true);
export const strong = (value: string): boolean => isPasswordValue(value, false);
export const token = (value: string): boolean => isTokenValue(value);
export const always = (): boolean => true;

/** A match that begins no nearer than this to the end of what was looked at would have been seen. */
const TRUSTED = 600;

/** The values are the groups of the expression, which is tried from the line before the anchor's on. */
export function place(anchors: string, expression: RegExp, put: Put, flags = 0): Anchored {
  const search = new RegExp(expression.source, `${expression.flags}dg`);
  /** No match that is still wanted begins before this: where anchors stand close together each beginning is tried a few times at most. */
  const noneBefore = new WeakMap<TextView, number>();
  const detector: Detector = (view, at) => {
    const tried = noneBefore.get(view) ?? 0;
    if (at < tried) return;
    const line = lineStart(view.text, at, 400);
    const from = line > 0 ? lineStart(view.text, line - 1, 200) : 0;
    const window = view.text.slice(from, at + 1200);
    search.lastIndex = Math.max(0, tried - from);
    let match = search.exec(window);
    for (; match && from + match.index <= at; match = search.exec(window)) {
      if (match[0] === '') search.lastIndex++;
      const last = match.indices![0]![1];
      if (from + last <= at) continue;
      for (const [group, value] of match.entries())
        if (group > 0 && value) put(view, from + match.indices![group]![0], value);
      return;
    }
    noneBefore.set(view, Math.min(match ? from + match.index : Number.POSITIVE_INFINITY, at + TRUSTED));
  };
  return { anchors, flags, detector };
}
export const exact = AnchorFlag.exactCase;
export const start = AnchorFlag.exactCase | AnchorFlag.start;
