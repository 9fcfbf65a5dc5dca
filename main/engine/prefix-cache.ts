/**
 * Finished sequences kept for the next request that starts with the same tokens: a radix tree over tokens for each key
 * (adapter version and precision), so that a look-up costs the length of the prompt, however much is held. A sequence of
 * one key never serves another.
 *
 * Only leaves hold sequences: one that is a prefix of another is never kept beside it. A sequence holds its whole path,
 * because a prefix is handed out as a copy; its bytes count in full.
 */
import type { NativeSequence } from '../../native/addon.js';

/** Shorter prefixes cost more to copy than to compute. */
export const MIN_SHARED_TOKENS = 8;

interface Held {
  key: string;
  sequence: NativeSequence;
  bytes: number;
  leaf: Node;
}

interface Node {
  /** Tokens between the parent and this node. */
  edge: Int32Array;
  children: Map<number, Node>;
  parent: Node | null;
  held: Held | null;
}

export function commonPrefix(a: ArrayLike<number>, b: ArrayLike<number>, from = 0): number {
  const n = Math.min(a.length, b.length);
  let i = from;
  while (i < n && a[i] === b[i]) i++;
  return i;
}

const newNode = (edge: Int32Array, parent: Node | null): Node => ({ edge, children: new Map(), parent, held: null });

export class PrefixCache {
  readonly #roots = new Map<string, Node>();
  /** Least recently used first. */
  readonly #order = new Set<Held>();
  #bytes = 0;

  /** `bytesOf(tokens)`: memory of a sequence of that many tokens. */
  constructor(
    private limitBytes: number,
    private readonly bytesOf: (tokens: number) => number,
  ) {}

  get bytes(): number {
    return this.#bytes;
  }
  get sequences(): number {
    return this.#order.size;
  }

  /** Tokens of `prompt` that `take` would find, at most all but its last one; 0 if too few to pay. */
  match(key: string, prompt: ArrayLike<number>): number {
    return this.#find(key, prompt)?.length ?? 0;
  }

  /** A private copy of the longest held prefix of `prompt`, at most all but its last token; null if too short to pay. */
  take(key: string, prompt: ArrayLike<number>): NativeSequence | null {
    const found = this.#find(key, prompt);
    if (!found) return null;
    this.#touch(found.held);
    return found.held.sequence.clone(found.length);
  }

  /** Takes over `sequence`, which holds exactly `ids`: kept, or freed where it adds nothing or does not fit. */
  put(key: string, ids: Int32Array, sequence: NativeSequence): void {
    const bytes = this.bytesOf(ids.length);
    if (ids.length < MIN_SHARED_TOKENS || bytes > this.limitBytes) {
      sequence.free();
      return;
    }
    const root = this.#roots.get(key) ?? newNode(new Int32Array(0), null);
    this.#roots.set(key, root);
    const { node, inEdge, length } = descend(root, ids);
    if (length === ids.length) {
      // What is there holds all of it.
      this.#touch(firstHeld(node));
      sequence.free();
      return;
    }
    const above = inEdge < node.edge.length ? split(node, inEdge) : node;
    const rest = ids.slice(length);
    if (above.held) {
      // The new one holds all of what ends here: it takes its place.
      const old = above.held;
      this.#forget(old);
      above.held = null;
      if (above.parent) above.edge = joined(above.edge, rest);
    }
    let leaf = above;
    if (above.parent === null || above.children.size > 0) {
      leaf = newNode(rest, above);
      above.children.set(rest[0]!, leaf);
    }
    leaf.held = { key, sequence, bytes, leaf };
    this.#order.add(leaf.held);
    this.#bytes += bytes;
    this.trim(this.limitBytes);
  }

  /** Changes the limit and frees the least recently used sequences beyond it. */
  trim(limitBytes: number): void {
    this.limitBytes = limitBytes;
    for (const held of this.#order) {
      if (this.#bytes <= limitBytes) break;
      this.#remove(held);
    }
  }

  /** Frees everything of the keys that `matches` says yes to. */
  drop(matches: (key: string) => boolean): void {
    for (const held of [...this.#order]) if (matches(held.key)) this.#remove(held);
  }

  #find(key: string, prompt: ArrayLike<number>): { held: Held; length: number } | null {
    const root = this.#roots.get(key);
    if (!root) return null;
    const { node, length } = descend(root, prompt);
    const usable = Math.min(length, prompt.length - 1);
    return usable < MIN_SHARED_TOKENS ? null : { held: firstHeld(node), length: usable };
  }

  #touch(held: Held): void {
    this.#order.delete(held);
    this.#order.add(held);
  }

  #forget(held: Held): void {
    held.sequence.free();
    this.#order.delete(held);
    this.#bytes -= held.bytes;
  }

  #remove(held: Held): void {
    this.#forget(held);
    const { leaf } = held;
    leaf.held = null;
    const { parent } = leaf;
    if (!parent) return;
    parent.children.delete(leaf.edge[0]!);
    if (parent.parent === null) {
      if (parent.children.size === 0) this.#roots.delete(held.key);
    } else if (parent.children.size === 1) merge(parent);
  }
}

/** Follows `ids` from the root: the last node reached, how far into its edge, and how many tokens matched in all. */
function descend(root: Node, ids: ArrayLike<number>): { node: Node; inEdge: number; length: number } {
  let node = root;
  let length = 0;
  for (;;) {
    const child = length < ids.length ? node.children.get(ids[length]!) : undefined;
    if (!child) return { node, inEdge: node.edge.length, length };
    let inEdge = 0;
    while (inEdge < child.edge.length && length < ids.length && child.edge[inEdge] === ids[length]) {
      inEdge++;
      length++;
    }
    node = child;
    if (inEdge < child.edge.length) return { node, inEdge, length };
  }
}

/** Any sequence below a node shares the path to it. */
function firstHeld(node: Node): Held {
  let at = node;
  while (!at.held) at = at.children.values().next().value!;
  return at.held;
}

/** Puts a node into the edge above `node`, after `at` of its tokens; returns the new one. */
function split(node: Node, at: number): Node {
  const above = newNode(node.edge.slice(0, at), node.parent);
  node.parent!.children.set(above.edge[0]!, above);
  node.edge = node.edge.slice(at);
  node.parent = above;
  above.children.set(node.edge[0]!, node);
  return above;
}

/** Takes a node with a single child out of the path. */
function merge(node: Node): void {
  const child: Node = node.children.values().next().value!;
  child.edge = joined(node.edge, child.edge);
  child.parent = node.parent;
  node.parent!.children.set(child.edge[0]!, child);
}

function joined(a: Int32Array, b: Int32Array): Int32Array {
  const out = new Int32Array(a.length + b.length);
  out.set(a);
  out.set(b, a.length);
  return out;
}
