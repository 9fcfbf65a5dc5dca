/** The automaton that finds all anchors in one pass (Aho and Corasick 1975, as a complete table over folded bytes). */
import { AnchorFlag, FIRST_LITERAL, type Tables } from './layout.js';

export interface Anchor {
  literal: string;
  flags: number;
}

const MOST_STATES = 65_535;
const fold = (byte: number): number => (byte >= 65 && byte <= 90 ? byte + 32 : byte);

type Automaton = Pick<Tables, 'classes' | 'columns' | 'next' | 'outputStart' | 'outputs'>;

/** Number of `anchors[i]` in candidates: FIRST_LITERAL + i. Errors: an empty or too long literal, too many states. */
export function buildTables(anchors: readonly Anchor[]): Tables {
  const literals = anchors.map(({ literal }) => Buffer.from(literal, 'latin1'));
  const wrong = literals.find(({ length }) => length === 0 || length > 255);
  if (wrong) throw new Error(`An anchor has ${wrong.length} bytes.`);
  const literalStart = new Int32Array(literals.length + 1);
  literals.forEach((literal, i) => {
    literalStart[i + 1] = literalStart[i]! + literal.length;
  });
  // Built when the TypeScript scanner asks for it, or at once where it may be too large.
  let built: Automaton | null = null;
  const automaton = (): Automaton => (built ??= buildAutomaton(literals));
  if (literalStart[literals.length]! >= MOST_STATES) automaton();
  return {
    get classes() {
      return automaton().classes;
    },
    get columns() {
      return automaton().columns;
    },
    get next() {
      return automaton().next;
    },
    get outputStart() {
      return automaton().outputStart;
    },
    get outputs() {
      return automaton().outputs;
    },
    lengths: Uint8Array.from(literals.map((literal) => literal.length)),
    flags: Uint8Array.from(anchors.map(({ flags }) => flags)),
    literals: Buffer.concat(literals),
    literalStart,
  };
}

function buildAutomaton(literals: readonly Buffer[]): Automaton {
  const classes = new Uint8Array(256);
  let columns = 1;
  for (const literal of literals)
    for (const byte of literal) {
      const folded = fold(byte);
      if (classes[folded] === 0) classes[folded] = columns++;
    }
  for (let byte = 65; byte <= 90; byte++) classes[byte] = classes[byte + 32]!;

  const trie: number[][] = [new Array<number>(columns).fill(-1)];
  const ends: number[][] = [[]];
  literals.forEach((literal, anchor) => {
    let state = 0;
    for (const byte of literal) {
      const column = classes[byte]!;
      let to = trie[state]![column]!;
      if (to < 0) {
        to = trie.length;
        trie.push(new Array<number>(columns).fill(-1));
        ends.push([]);
        trie[state]![column] = to;
      }
      state = to;
    }
    ends[state]!.push(anchor);
  });
  if (trie.length > MOST_STATES) throw new Error('There are too many anchors.');

  const fail = new Int32Array(trie.length);
  const order: number[] = [];
  for (let column = 0; column < columns; column++) {
    const to = trie[0]![column]!;
    if (to < 0) trie[0]![column] = 0;
    else order.push(to);
  }
  for (let at = 0; at < order.length; at++) {
    const state = order[at]!;
    ends[state]!.push(...ends[fail[state]!]!);
    for (let column = 0; column < columns; column++) {
      const to = trie[state]![column]!;
      if (to < 0) trie[state]![column] = trie[fail[state]!]![column]!;
      else {
        fail[to] = trie[fail[state]!]![column]!;
        order.push(to);
      }
    }
  }

  const outputStart = new Int32Array(trie.length + 1);
  ends.forEach((list, state) => {
    outputStart[state + 1] = outputStart[state]! + list.length;
  });
  return {
    classes,
    columns,
    next: Uint16Array.from(trie.flat()),
    outputStart,
    outputs: Int32Array.from(ends.flat()),
  };
}

export const anchorNumber = (index: number): number => FIRST_LITERAL + index;
export { AnchorFlag };
