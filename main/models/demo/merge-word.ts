/** Byte-pair merging of one word, in time n log n: a word may be megabytes of spaces. */

export interface Merge {
  rank: number;
  id: number;
}

/** The merge of two neighbouring ids, undefined when there is none. */
export type FindMerge = (left: number, right: number) => Merge | undefined;

/** Below this the list is searched anew after each merge: faster than a heap. */
const SHORT = 48;

/** Applies the merges to `ids` in order of rank, leftmost first, until none fits. */
export function mergeWord(ids: readonly number[], find: FindMerge): number[] {
  return ids.length <= SHORT ? mergeShort([...ids], find) : mergeLong(ids, find);
}

function mergeShort(parts: number[], find: FindMerge): number[] {
  for (;;) {
    let best: Merge | undefined;
    let at = -1;
    for (let i = 0; i + 1 < parts.length; i++) {
      const merge = find(parts[i]!, parts[i + 1]!);
      if (merge && (!best || merge.rank < best.rank)) {
        best = merge;
        at = i;
      }
    }
    if (!best) return parts;
    parts.splice(at, 2, best.id);
  }
}

const GONE = -1;
/** More than a word has bytes; rank * POSITIONS + position orders the possible merges, and is exact below 2^53. */
const POSITIONS = 2 ** 32;

/** The parts as a doubly linked list over positions, the possible merges in a heap. */
function mergeLong(ids: readonly number[], find: FindMerge): number[] {
  const parts = Int32Array.from(ids);
  const next = Int32Array.from(ids, (_, i) => i + 1);
  const before = Int32Array.from(ids, (_, i) => i - 1);
  const mergeAt = (position: number): Merge | undefined => {
    const right = position < 0 ? parts.length : next[position]!;
    return right < parts.length ? find(parts[position]!, parts[right]!) : undefined;
  };
  const heap: number[] = [];
  const consider = (position: number): void => {
    const merge = mergeAt(position);
    if (merge) push(heap, merge.rank * POSITIONS + position);
  };
  for (let i = 0; i + 1 < parts.length; i++) consider(i);
  for (let key = pop(heap); key !== undefined; key = pop(heap)) {
    const position = key % POSITIONS;
    const merge = parts[position] === GONE ? undefined : mergeAt(position);
    // Another pair may stand there by now; it has a key of its own.
    if (merge?.rank !== (key - position) / POSITIONS) continue;
    const right = next[position]!;
    parts[position] = merge.id;
    parts[right] = GONE;
    next[position] = next[right]!;
    if (next[right]! < parts.length) before[next[right]!] = position;
    consider(before[position]!);
    consider(position);
  }
  return [...parts.filter((id) => id !== GONE)];
}

function push(heap: number[], added: number): void {
  let at = heap.push(added) - 1;
  while (at > 0) {
    const parent = (at - 1) >> 1;
    if (heap[parent]! <= added) break;
    heap[at] = heap[parent]!;
    at = parent;
  }
  heap[at] = added;
}

function pop(heap: number[]): number | undefined {
  const top = heap[0];
  const moved = heap.pop();
  if (moved === undefined || heap.length === 0) return top;
  let at = 0;
  for (let child = 1; child < heap.length; child = 2 * at + 1) {
    if (child + 1 < heap.length && heap[child + 1]! < heap[child]!) child++;
    if (heap[child]! >= moved) break;
    heap[at] = heap[child]!;
    at = child;
  }
  heap[at] = moved;
  return top;
}
