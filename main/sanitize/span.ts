/** What a detector reports about one decoded text. */

/** Higher wins where spans overlap. Order of specs: sanitizer 5.4. */
export const PRIORITY = { checksum: 6, shape: 5, block: 4, keyValue: 3, entropy: 2, personal: 1 } as const;
export type Certainty = keyof typeof PRIORITY;

export interface Span {
  /** Half-open range in the text that was given. */
  start: number;
  end: number;
  /** Such as `github-pat` or `email`. */
  family: string;
  certainty: Certainty;
  /** What gets the pseudonym; the text of the range unless told. */
  value: string;
}

/** Non-overlapping spans in order: the higher certainty wins, then the longer, then the later; partial overlaps become one span. */
export function resolveSpans(spans: Span[]): Span[] {
  if (spans.length < 2) return spans;
  spans.sort((a, b) => a.start - b.start || b.end - a.end);
  const out: Span[] = [];
  for (const span of spans) {
    const last = out.at(-1);
    if (!last || span.start >= last.end) {
      out.push(span);
      continue;
    }
    const same = span.start === last.start && span.end === last.end;
    const better = PRIORITY[span.certainty] - PRIORITY[last.certainty];
    const chosen = better > 0 || (same && better === 0) ? span : last;
    out[out.length - 1] = {
      start: last.start,
      end: Math.max(last.end, span.end),
      family: chosen.family,
      certainty: chosen.certainty,
      value: chosen.value,
    };
  }
  return out;
}
