/** Ends of secrets beside what was cut out: Python's unittest prints `'http[35 chars]q3Gqo…'`, where no beginning tells a token. */
import { AnchorFlag } from '../scan/layout.js';
import { type Anchored, CHAR, type Detector, runAfter, runBefore } from './text-view.js';

const ANCHOR = ' chars]';
const CUT = /\[\d{1,9}$/;
const SHORTEST = 8;
const LONGEST = 200;
const RUN = CHAR.alnum | CHAR.underscore | CHAR.dash;

const elided: Detector = ({ text, spans }, at) => {
  const cut = CUT.exec(text.slice(Math.max(0, at - 12), at))?.[0];
  if (!cut) return;
  const before = at - cut.length;
  const after = at + ANCHOR.length;
  put(runBefore(text, before, RUN, LONGEST), before);
  put(after, runAfter(text, after, RUN, LONGEST));

  function put(start: number, end: number): void {
    const value = text.slice(start, end);
    if (isFragment(value)) spans.push({ start, end, family: 'generic-secret', certainty: 'entropy', value });
  }
};

/** Shorter than a token may be; letters alone may be words. */
const isFragment = (value: string): boolean =>
  value.length >= SHORTEST &&
  ((/\d/.test(value) && /[a-z]/.test(value) && /[A-Z]/.test(value)) || /^(?=.*\d)[0-9a-f]{16,}$/.test(value));

export const ELIDED: Anchored[] = [{ anchors: '\u2423chars]', flags: AnchorFlag.exactCase, detector: elided }];
