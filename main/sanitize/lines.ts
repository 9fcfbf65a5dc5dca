/** Lines by their numbers, from 0. */
const NEWLINE = 10;

export function endOfLine(bytes: Uint8Array, from: number): number {
  const at = bytes.indexOf(NEWLINE, from);
  return at < 0 ? bytes.length : at;
}

/** Numbers of the lines that hold one of the places, in order; the places in order of where they begin. */
export function linesWith(bytes: Uint8Array, places: Iterable<{ start: number; end: number }>): number[] {
  const lines = new Set<number>();
  let line = 0;
  let lineEnd = endOfLine(bytes, 0);
  for (const { start, end } of places) {
    for (; lineEnd < start; lineEnd = endOfLine(bytes, lineEnd + 1)) line++;
    lines.add(line);
    for (let at = lineEnd, n = line; at < end - 1; at = endOfLine(bytes, at + 1)) lines.add(++n);
  }
  return [...lines].sort((a, b) => a - b);
}
