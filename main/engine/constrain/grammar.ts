/**
 * Grammars over bytes: what a constraint allows, before it is run (machine.ts). Nodes are immutable and numbered, so that
 * equal positions can be told by number.
 */
export type Grammar =
  | { readonly id: number; readonly kind: 'bytes'; readonly bytes: Uint8Array; readonly marker: boolean }
  | { readonly id: number; readonly kind: 'set'; readonly has: Uint8Array }
  | { readonly id: number; readonly kind: 'sequence'; readonly parts: readonly Grammar[] }
  | { readonly id: number; readonly kind: 'choice'; readonly options: readonly Grammar[] }
  | {
      readonly id: number;
      readonly kind: 'repeat';
      readonly base: number;
      readonly body: Grammar;
      readonly min: number;
      readonly max: number;
    }
  | { readonly id: number; readonly kind: 'reference'; readonly target: () => Grammar }
  | {
      readonly id: number;
      readonly kind: 'text';
      readonly opener: Uint8Array;
      readonly seen: number;
      readonly then: Grammar;
    };

let next = 1;
const newId = (): number => next++;
export const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Exactly these bytes. `marker`: may be written with control tokens. */
export const bytes = (value: Uint8Array, marker = false): Grammar => ({
  id: newId(),
  kind: 'bytes',
  bytes: value,
  marker,
});
export const literal = (text: string): Grammar => bytes(utf8(text));
export const sequence = (...parts: Grammar[]): Grammar => ({ id: newId(), kind: 'sequence', parts });
export const choice = (...options: Grammar[]): Grammar =>
  options.length === 1 ? options[0]! : { id: newId(), kind: 'choice', options };
export const reference = (target: () => Grammar): Grammar => ({ id: newId(), kind: 'reference', target });
export const empty = sequence();

/** Between `min` and `max` times; `body` never matches nothing. */
export function repeat(body: Grammar, min: number, max: number): Grammar {
  const id = newId();
  return { id, kind: 'repeat', base: id, body, min, max };
}
export const optional = (body: Grammar): Grammar => choice(empty, body);

/** One byte out of ranges such as `[0x30, 0x39]`. */
export function set(...ranges: (readonly [number, number])[]): Grammar {
  const has = new Uint8Array(256);
  for (const [from, to] of ranges) has.fill(1, from, to + 1);
  return { id: newId(), kind: 'set', has };
}
export const digit = set([0x30, 0x39]);
export const digits = (min: number, max: number): Grammar => repeat(digit, min, max);

/** Any text, ended anywhere; after each `opener` follows `then`, and text again. */
export const textWith = (opener: Uint8Array, then: Grammar): Grammar => ({
  id: newId(),
  kind: 'text',
  opener,
  seen: 0,
  then,
});

/** Derived nodes, made once each: the rest of a literal, a repetition with less to go, text within an opener. */
export class Derived {
  readonly #known = new Map<string, Grammar>();

  rest(node: Grammar & { kind: 'bytes' }): Grammar | null {
    if (node.bytes.length <= 1) return null;
    return this.#once(`${node.id}`, (id) => ({ ...node, id, bytes: node.bytes.subarray(1) }));
  }
  repeat(node: Grammar & { kind: 'repeat' }, min: number, max: number): Grammar | null {
    if (max === 0) return null;
    if (min === node.min && max === node.max) return node;
    return this.#once(`${node.base}:${min}:${max}`, (id) => ({ ...node, id, min, max }));
  }
  text(node: Grammar & { kind: 'text' }, seen: number): Grammar {
    if (seen === node.seen) return node;
    return this.#once(`${node.then.id}~${seen}`, (id) => ({ ...node, id, seen }));
  }

  #once(key: string, make: (id: number) => Grammar): Grammar {
    let node = this.#known.get(key);
    if (!node) {
      node = make(newId());
      this.#known.set(key, node);
    }
    return node;
  }
}
