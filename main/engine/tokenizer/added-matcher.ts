import type { AddedToken } from './tokenizer.js';

/** A piece of a text: plain text, or the added token that stands there. */
export type Fragment = string | AddedToken;

const UNITS = 0x10000;
const WORD_CHAR = /[\p{L}\p{N}_]/u;

/** Finds added tokens in a text: leftmost first, longest at one place (as the Hugging Face libraries do). */
export class AddedMatcher {
  /** A tree of UTF-16 units in one map, which takes a fraction of the memory of a map a node: node and unit to node. */
  readonly #next = new Map<number, number>();
  readonly #tokens: (AddedToken | undefined)[] = [undefined];

  constructor(tokens: Iterable<AddedToken>) {
    for (const token of tokens) {
      if (token.content === '') continue;
      let node = 0;
      for (let i = 0; i < token.content.length; i++) {
        const key = node * UNITS + token.content.charCodeAt(i);
        let next = this.#next.get(key);
        if (next === undefined) {
          next = this.#tokens.push(undefined) - 1;
          this.#next.set(key, next);
        }
        node = next;
      }
      this.#tokens[node] ??= token;
    }
  }

  /** The text cut at its added tokens; empty pieces are left out. `breaks`: see `EncodeOptions`. */
  split(text: string, breaks: readonly number[] = []): Fragment[] {
    const out: Fragment[] = [];
    let from = 0;
    let nextBreak = 0;
    for (let i = 0; i < text.length; ) {
      while (nextBreak < breaks.length && breaks[nextBreak]! <= i) nextBreak++;
      const limit = breaks[nextBreak] ?? text.length;
      const token = this.#match(text, i, Math.min(limit, text.length));
      if (!token) {
        i++;
        continue;
      }
      let end = i;
      if (token.lstrip) while (end > from && /\s/.test(text[end - 1]!)) end--;
      if (end > from) out.push(text.slice(from, end));
      out.push(token);
      i += token.content.length;
      if (token.rstrip) while (i < text.length && /\s/.test(text[i]!)) i++;
      from = i;
    }
    if (from < text.length) out.push(text.slice(from));
    return out;
  }

  /** Every position at which some token stands, overlapping ones too. */
  starts(text: string): number[] {
    const out: number[] = [];
    for (let i = 0; i < text.length; i++) if (this.#match(text, i, text.length)) out.push(i);
    return out;
  }

  #match(text: string, start: number, limit: number): AddedToken | null {
    let node = this.#next.get(text.charCodeAt(start));
    let found: AddedToken | null = null;
    for (let i = start + 1; node !== undefined; i++) {
      const token = this.#tokens[node];
      if (token && standsFree(token, text, start, i)) found = token;
      node = i < limit ? this.#next.get(node * UNITS + text.charCodeAt(i)) : undefined;
    }
    return found;
  }
}

function standsFree(token: AddedToken, text: string, start: number, end: number): boolean {
  return !token.singleWord || !(WORD_CHAR.test(text[start - 1] ?? '') || WORD_CHAR.test(text[end] ?? ''));
}
