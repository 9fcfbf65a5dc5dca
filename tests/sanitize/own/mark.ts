/**
 * Labels that travel inside a text. Private-use characters stand at the edges of each label, so that a text can be
 * decorated, quoted and put into JSON first, and its offsets counted last.
 */

export interface Span {
  /** What may go. */
  start: number;
  end: number;
  /** What must go. */
  core: [number, number];
}

export interface OwnCase {
  id: string;
  kind: string;
  text: string;
  spans: Span[];
}

const OPEN = '\uE000';
const CORE = '\uE001';
const CORE_END = '\uE002';
const CLOSE = '\uE003';
const MARKS = /([\uE000-\uE003])/;

/** Labels `value`; its first `before` and last `after` characters may stay. */
export function s(value: string, before = 0, after = 0): string {
  return area(value.slice(0, before), value.slice(before, value.length - after), value.slice(value.length - after));
}

/** Labels a core with surroundings that may go with it. */
export function area(before: string, core: string, after = ''): string {
  return OPEN + before + CORE + core + CORE_END + after + CLOSE;
}

/** Rewrites a labelled text and leaves its labels at their places. `rewrite` must work on each part alone. */
export function mapMarked(marked: string, rewrite: (part: string) => string): string {
  return marked
    .split(MARKS)
    .map((part, i) => (i % 2 === 1 ? part : rewrite(part)))
    .join('');
}

export function unmark(marked: string): string {
  return mapMarked(marked, (part) => part).replace(new RegExp(MARKS, 'g'), '');
}

/** Takes the labels out and returns where they were. */
export function parseMarked(marked: string): { text: string; spans: Span[] } {
  const spans: Span[] = [];
  let text = '';
  let open: Span | null = null;
  for (const [i, part] of marked.split(MARKS).entries()) {
    if (i % 2 === 0) text += part;
    else if (part === OPEN) {
      if (open) throw new Error(`a label inside a label: ${unmark(marked)}`);
      open = { start: text.length, end: -1, core: [-1, -1] };
    } else if (!open) throw new Error(`a label ends that never began: ${unmark(marked)}`);
    else if (part === CORE) open.core[0] = text.length;
    else if (part === CORE_END) open.core[1] = text.length;
    else {
      open.end = text.length;
      spans.push(open);
      open = null;
    }
  }
  if (open) throw new Error(`a label without an end: ${unmark(marked)}`);
  return { text, spans };
}

/** The inverse of `parseMarked`. */
export function remark({ text, spans }: Pick<OwnCase, 'text' | 'spans'>): string {
  let out = '';
  let at = 0;
  for (const { start, end, core } of spans) {
    out += text.slice(at, start) + area(text.slice(start, core[0]), text.slice(...core), text.slice(core[1], end));
    at = end;
  }
  return out + text.slice(at);
}

/** Collects the cases of one class; each gets its number among those of its kind. */
export class CaseList {
  readonly cases: OwnCase[] = [];
  readonly #counts = new Map<string, number>();
  readonly #className: string;
  constructor(className: string) {
    this.#className = className;
  }

  add(kind: string, ...marked: readonly string[]): void {
    for (const text of marked) {
      const number = (this.#counts.get(kind) ?? 0) + 1;
      this.#counts.set(kind, number);
      this.cases.push({ id: `${this.#className}/${kind}/${number}`, kind, ...parseMarked(text) });
    }
  }
}
