/** One numbered line of `tackroom doctor` and `tackroom engine check`. */
export type CheckStatus = 'ok' | 'warning' | 'failed';

export interface Check {
  /** Short and stable, for scripts. */
  id: string;
  title: string;
  /** `failed`: something Tackroom cannot work without. `warning`: something it does without. */
  status: CheckStatus;
  /** What was found, one sentence or less. */
  detail: string;
  /** What to do about it; empty when there is nothing to do. */
  hint: string;
}

export type Probe = () => Check | Promise<Check>;

/** The first line of whatever was thrown. */
export const reasonOf = (error: unknown): string =>
  ((error instanceof Error ? error.message : String(error)).split('\n')[0] ?? '').trim();

const MARKS: Record<CheckStatus, string> = { ok: 'ok', warning: 'warn', failed: 'FAIL' };

/** Numbered lines: mark, title, detail; the hint on a line of its own. */
export function formatChecks(checks: readonly Check[]): string {
  const width = Math.max(...checks.map((check) => check.title.length));
  const lines = checks.flatMap((check, i) => {
    const number = String(i + 1).padStart(2);
    const line = `${number}  ${MARKS[check.status].padEnd(4)}  ${check.title.padEnd(width)}  ${check.detail}`;
    return check.hint === '' ? [line] : [line, `${' '.repeat(width + 12)}-> ${check.hint}`];
  });
  return `${lines.join('\n')}\n`;
}
