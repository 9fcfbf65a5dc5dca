/**
 * Runs a grammar byte by byte. A state is a set of positions, a position a stack of what is still to come; equal ones are
 * one object, so that what is learned about a state (its next states, its token mask) is learned once.
 */
import { TackroomError } from '../../../contract/errors.js';
import { Derived, type Grammar } from './grammar.js';

interface Position {
  readonly id: number;
  readonly node: Grammar;
  readonly next: Position | null;
  moves: Moves | null;
}

/** What a position takes next. */
interface Move {
  /** The one byte, or those of a set. */
  readonly byte: number;
  readonly has: Uint8Array | null;
  /** Written by the frame of a call or free text, so control tokens may do it too. */
  readonly marker: boolean;
  readonly to: Position | null;
}
interface Moves {
  list: Move[];
  /** The grammar may end here. */
  ends: boolean;
}

export class State {
  readonly next: (State | null | undefined)[] = new Array(256);
  readonly markers: boolean;
  /** Token masks by whether long tokens are left out; see vocabulary.ts. */
  readonly masks: (Uint32Array | null | undefined)[] = [];

  constructor(
    readonly positions: readonly Position[],
    readonly ends: boolean,
    readonly moves: readonly Move[],
  ) {
    this.markers = moves.some(({ marker }) => marker);
  }
}

const DEEPEST = 400;
const MOST_STATES = 20_000;
const MOST_POSITIONS = 200_000;

export class Machine {
  readonly start: State;
  readonly #derived = new Derived();
  #positions = new Map<string, Position>();
  #states = new Map<string, State>();
  #made = 0;

  /** Throws UNSUPPORTED for a grammar that refers to itself without taking a byte. */
  constructor(root: Grammar) {
    this.start = this.#state([this.#push(root, null)], false);
  }

  /** null: the byte cannot come here. */
  step(state: State, byte: number): State | null {
    let to = state.next[byte];
    if (to === undefined) {
      to = this.#after(state, byte, false);
      state.next[byte] = to;
    }
    return to;
  }

  /** The same for the name of a control token: inside a value nothing of it counts as text. */
  stepMarker(state: State, byte: number): State | null {
    return this.#after(state, byte, true);
  }

  /**
   * A state that takes the same texts of up to `reach` bytes: counters beyond that are cut. Many states become one, and so
   * share what is learned of them.
   */
  within(state: State, reach: number): State {
    const cut = state.positions.map((position) => this.#cut(position, reach));
    return cut.every((position, i) => position === state.positions[i]) ? state : this.#state(cut, state.ends);
  }

  #after(state: State, byte: number, markersOnly: boolean): State | null {
    const to: Position[] = [];
    let ends = false;
    for (const move of state.moves) {
      if (move.has ? move.has[byte] === 0 : move.byte !== byte) continue;
      if (markersOnly && !move.marker) continue;
      if (move.to) to.push(move.to);
      else ends = true;
    }
    return to.length === 0 && !ends ? null : this.#state(to, ends);
  }

  #state(list: readonly Position[], ends: boolean): State {
    const positions = [...new Map(list.map((position) => [position.id, position])).values()].sort(
      (a, b) => a.id - b.id,
    );
    const key = `${ends ? '!' : ''}${positions.map(({ id }) => id).join(',')}`;
    let state = this.#states.get(key);
    if (!state) {
      const moves = positions.map((position) => this.#moves(position));
      state = new State(
        positions,
        ends || moves.some((one) => one.ends),
        moves.flatMap((one) => one.list),
      );
      // Forgotten states stay good for those who hold them.
      if (this.#states.size >= MOST_STATES || this.#positions.size >= MOST_POSITIONS) this.#forget();
      this.#states.set(key, state);
    }
    return state;
  }

  #forget(): void {
    this.#states = new Map();
    this.#positions = new Map();
  }

  #push(node: Grammar, next: Position | null): Position {
    const key = `${node.id}/${next?.id ?? 0}`;
    let position = this.#positions.get(key);
    if (!position) {
      position = { id: ++this.#made, node, next, moves: null };
      this.#positions.set(key, position);
    }
    return position;
  }

  #moves(position: Position): Moves {
    if (!position.moves) {
      const moves: Moves = { list: [], ends: false };
      this.#expand(position.node, position.next, moves, 0);
      position.moves = moves;
    }
    return position.moves;
  }

  /** Adds what `node`, followed by `next`, takes first. */
  #expand(node: Grammar, next: Position | null, out: Moves, depth: number): void {
    if (depth > DEEPEST)
      throw new TackroomError(
        'UNSUPPORTED',
        'The schema refers to itself without end.',
        'Make every recursive reference pass through an object or an array.',
      );
    switch (node.kind) {
      case 'bytes': {
        const rest = this.#derived.rest(node);
        if (node.bytes.length === 0) this.#expandRest(next, out, depth);
        else
          out.list.push({
            byte: node.bytes[0]!,
            has: null,
            marker: node.marker,
            to: rest ? this.#push(rest, next) : next,
          });
        return;
      }
      case 'set':
        out.list.push({ byte: -1, has: node.has, marker: false, to: next });
        return;
      case 'sequence': {
        const [first, ...rest] = node.parts;
        if (!first) this.#expandRest(next, out, depth);
        else
          this.#expand(
            first,
            rest.reduceRight((after: Position | null, part) => this.#push(part, after), next),
            out,
            depth + 1,
          );
        return;
      }
      case 'choice':
        for (const option of node.options) this.#expand(option, next, out, depth + 1);
        return;
      case 'repeat': {
        if (node.min === 0) this.#expandRest(next, out, depth);
        const less = this.#derived.repeat(node, Math.max(0, node.min - 1), node.max - 1);
        if (node.max > 0) this.#expand(node.body, less ? this.#push(less, next) : next, out, depth + 1);
        return;
      }
      case 'reference':
        this.#expand(node.target(), next, out, depth + 1);
        return;
      case 'text':
        out.ends ||= next === null;
        this.#expandText(node, next, out);
    }
  }

  #expandRest(next: Position | null, out: Moves, depth: number): void {
    if (next) this.#expand(next.node, next.next, out, depth + 1);
    else out.ends = true;
  }

  /** Every byte, sorted by how much of the opener has come with it (Knuth, Morris and Pratt 1977). */
  #expandText(node: Grammar & { kind: 'text' }, next: Position | null, out: Moves): void {
    const sets = new Map<number, Uint8Array>();
    for (let byte = 0; byte < 256; byte++) {
      const seen = matched(node.opener, node.seen, byte);
      const has = sets.get(seen) ?? new Uint8Array(256);
      has[byte] = 1;
      sets.set(seen, has);
    }
    for (const [seen, has] of sets) {
      const whole = seen === node.opener.length;
      const to = whole
        ? this.#push(node.then, this.#push(this.#derived.text(node, 0), next))
        : this.#push(this.#derived.text(node, seen), next);
      out.list.push({ byte: -1, has, marker: true, to });
    }
  }

  #cut(position: Position, reach: number): Position {
    const next = position.next && this.#cut(position.next, reach);
    let { node } = position;
    if (node.kind === 'repeat') {
      const max = Number.isFinite(node.max) ? Math.min(node.max, reach) : node.max;
      node = this.#derived.repeat(node, Math.min(node.min, reach), max) ?? node;
    }
    return node === position.node && next === position.next ? position : this.#push(node, next);
  }
}

/** Length of the longest beginning of `word` that the text ends with, when it ended with `seen` of it before `byte`. */
function matched(word: Uint8Array, seen: number, byte: number): number {
  const text = [...word.subarray(0, seen), byte];
  for (let n = Math.min(word.length, text.length); n > 0; n--)
    if (text.slice(text.length - n).every((value, i) => value === word[i])) return n;
  return 0;
}
