/** What tools put around the lines they show. Each works on labelled text. */

const perLine = (text: string, rewrite: (line: string, number: number) => string): string =>
  text
    .split('\n')
    .map((line, i) => rewrite(line, i + 1))
    .join('\n');

/** `cat -n`. */
export const numbered = (text: string, from = 1): string =>
  perLine(text, (line, i) => `${String(i + from - 1).padStart(6)}\t${line}`);

/** The gutter of Claude Code's Read tool. */
export const arrowGutter = (text: string, from = 1): string =>
  perLine(text, (line, i) => `${String(i + from - 1).padStart(6)}→${line}`);

/** `grep -n` over one file. */
export const grepped = (text: string, file: string): string => perLine(text, (line, i) => `${file}:${i + 2}:${line}`);

/** Added lines of a unified diff. */
export const added = (text: string, file: string): string =>
  `diff --git a/${file} b/${file}\n--- a/${file}\n+++ b/${file}\n@@ -0,0 +1,${text.split('\n').length} @@\n${perLine(text, (line) => `+${line}`)}`;

/** Removed lines of a unified diff. */
export const removed = (text: string): string => `@@ -3,4 +3,2 @@\n${perLine(text, (line) => `-${line}`)}\n PORT=8080`;

/** `docker compose logs`. */
export const composeLog = (text: string, service: string): string => perLine(text, (line) => `${service}-1  | ${line}`);

/** A job log of GitHub Actions as `gh run view --log` prints it. */
export const actionsLog = (text: string): string =>
  perLine(text, (line, i) => `build\tDeploy\t2026-02-03T08:15:${String(10 + i).padStart(2, '0')}.4471902Z ${line}`);

/** `kubectl logs --timestamps`, CRI format. */
export const criLog = (text: string): string =>
  perLine(text, (line) => `2026-02-03T08:15:42.118823901Z stderr F ${line}`);

/** `bash -x`. */
export const traced = (text: string, depth = 1): string => perLine(text, (line) => `${'+'.repeat(depth)} ${line}`);

/** A quoted mail or issue comment. */
export const quoted = (text: string): string => perLine(text, (line) => `> ${line}`);

export const fenced = (text: string, language = ''): string => `\`\`\`${language}\n${text}\n\`\`\``;

/** ANSI colours as `bat`, `grep --color` and test runners write them. */
export const coloured = (text: string, code = 32): string => `\u001b[${code}m${text}\u001b[0m`;

/** A table with a border, `rows[0]` its head. Widths ignore labels: a crooked table is still a table. */
export function table(rows: readonly (readonly string[])[], bar = '|'): string {
  const line = (cells: readonly string[]): string => `${bar} ${cells.join(` ${bar} `)} ${bar}`;
  const [head, ...body] = rows;
  const rule = `+${head!.map((cell) => '-'.repeat(cell.length + 2)).join('+')}+`;
  return [rule, line(head!), rule, ...body.map(line), rule].join('\n');
}
