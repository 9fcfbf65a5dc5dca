/** What detectors look at: one decoded text and what stands around it. */
import type { Span } from '../span.js';

export interface TextView {
  /** One character a byte (latin1). */
  text: string;
  /** Name of the JSON field the text stands in, else ''. */
  key: string;
  /** The same text is looked at again with its escapes read: names before values count there only. */
  escaped: boolean;
  spans: Span[];
  /** Some of the text that this one is a string of, before and after it. */
  around: () => string;
  /** A stand-in that stands in the input already, such as `user` 3. */
  reserve: (group: string, number: number) => void;
  /** The text is a command whose whole output is private; its record and those after it are looked at. */
  asks: () => void;
  /** End of the last unquoted value that was read, and of the last long one that was no secret: runs are read once. */
  runFrom: number;
  runTo: number;
  refusedTo: number;
}

/** Called where one of its anchors stands in `view.text`. */
export type Detector = (view: TextView, at: number) => void;

/** Detector and where it is called. A blank separates anchors, ␣ stands for one in them. */
export interface Anchored {
  anchors: string;
  flags: number;
  detector: Detector;
}

/** Match of a sticky expression at `at`, or null. */
export function matchAt(sticky: RegExp, text: string, at: number): RegExpExecArray | null {
  sticky.lastIndex = at;
  return sticky.exec(text);
}

/** Byte classes: 1 digit, 2 letter, 4 `_`, 8 `-`, 16 `.`. Bytes of other scripts are none of these. */
const CLASSES = new Uint8Array(256);
for (let c = 0; c < 256; c++)
  CLASSES[c] =
    c >= 48 && c <= 57
      ? 1
      : (c >= 65 && c <= 90) || (c >= 97 && c <= 122)
        ? 2
        : c === 95
          ? 4
          : c === 45
            ? 8
            : c === 46
              ? 16
              : 0;
export const CHAR = { digit: 1, letter: 2, underscore: 4, dash: 8, dot: 16, alnum: 3, word: 7, name: 31 } as const;

export const isChar = (text: string, at: number, kinds: number): boolean =>
  at >= 0 && at < text.length && (CLASSES[text.charCodeAt(at) & 255]! & kinds) !== 0;

/** First position of the run of `kinds` that ends before `at`, at most `most` back. */
export function runBefore(text: string, at: number, kinds: number, most: number): number {
  let i = at;
  while (i > 0 && at - i < most && isChar(text, i - 1, kinds)) i--;
  return i;
}

/** Position after the run of `kinds` from `at` on. */
export function runAfter(text: string, at: number, kinds: number, most: number): number {
  let i = at;
  while (i < text.length && i - at < most && isChar(text, i, kinds)) i++;
  return i;
}

export function lineStart(text: string, at: number, most: number): number {
  const from = Math.max(0, at - most);
  let i = at;
  while (i > from && text.charCodeAt(i - 1) !== 10) i--;
  return i;
}
