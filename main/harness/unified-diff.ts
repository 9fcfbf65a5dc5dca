/** Unified diffs of small texts, in the form `diff -u` and `patch` share (POSIX diff, -u). */

interface Line {
  mark: ' ' | '-' | '+';
  text: string;
}

const CONTEXT = 3;

/** Cells of the table of common subsequences, 4 bytes each; beyond that the differing middle is shown whole. */
const MAX_CELLS = 4_000_000;

/** Lines of both texts in order, common ones once. Only what lies between the common ends is compared. */
function align(before: string[], after: string[]): Line[] {
  const most = Math.min(before.length, after.length);
  let head = 0;
  while (head < most && before[head] === after[head]) head++;
  let tail = 0;
  while (tail < most - head && before.at(-1 - tail) === after.at(-1 - tail)) tail++;
  const middle = (lines: string[]): string[] => lines.slice(head, lines.length - tail);
  const [gone, come] = [middle(before), middle(after)];
  const marked = (lines: string[], mark: Line['mark']): Line[] => lines.map((text) => ({ mark, text }));
  return [
    ...marked(before.slice(0, head), ' '),
    ...((gone.length + 1) * (come.length + 1) <= MAX_CELLS
      ? alignMiddle(gone, come)
      : [...marked(gone, '-'), ...marked(come, '+')]),
    ...marked(tail === 0 ? [] : before.slice(-tail), ' '),
  ];
}

/** By a longest common subsequence. */
function alignMiddle(before: string[], after: string[]): Line[] {
  const width = after.length + 1;
  const common = new Uint32Array((before.length + 1) * width);
  for (let i = before.length - 1; i >= 0; i--)
    for (let j = after.length - 1; j >= 0; j--)
      common[i * width + j] =
        before[i] === after[j]
          ? common[(i + 1) * width + j + 1]! + 1
          : Math.max(common[(i + 1) * width + j]!, common[i * width + j + 1]!);
  const lines: Line[] = [];
  let i = 0;
  let j = 0;
  while (i < before.length || j < after.length) {
    if (i < before.length && j < after.length && before[i] === after[j]) {
      lines.push({ mark: ' ', text: before[i++]! });
      j++;
    } else if (j >= after.length || (i < before.length && common[(i + 1) * width + j]! >= common[i * width + j + 1]!))
      lines.push({ mark: '-', text: before[i++]! });
    else lines.push({ mark: '+', text: after[j++]! });
  }
  return lines;
}

/** Each line with its newline, so that a missing last one is a difference. */
const split = (text: string): string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? [];

function hunk(lines: Line[], from: number, to: number): string {
  const count = (part: Line[], without: '+' | '-'): number => part.filter((line) => line.mark !== without).length;
  const head = lines.slice(0, from);
  const body = lines.slice(from, to);
  const range = (without: '+' | '-'): string => {
    const length = count(body, without);
    return `${count(head, without) + (length === 0 ? 0 : 1)},${length}`;
  };
  const text = body.map(({ mark, text: line }) =>
    line.endsWith('\n') ? mark + line : `${mark}${line}\n\\ No newline at end of file\n`,
  );
  return `@@ -${range('+')} +${range('-')} @@\n${text.join('')}`;
}

/** The change from `before` to `after` (null: no such file), empty where there is none. */
export function unifiedDiff(path: string, before: string | null, after: string | null): string {
  if (before === after) return '';
  const lines = align(split(before ?? ''), split(after ?? ''));
  const changed = lines.flatMap((line, index) => (line.mark === ' ' ? [] : [index]));
  const hunks: string[] = [];
  for (let first = 0; first < changed.length; ) {
    let last = first;
    while (last + 1 < changed.length && changed[last + 1]! - changed[last]! <= 2 * CONTEXT) last++;
    hunks.push(
      hunk(lines, Math.max(0, changed[first]! - CONTEXT), Math.min(lines.length, changed[last]! + CONTEXT + 1)),
    );
    first = last + 1;
  }
  return `--- ${before === null ? '/dev/null' : path}\n+++ ${after === null ? '/dev/null' : path}\n${hunks.join('')}`;
}
