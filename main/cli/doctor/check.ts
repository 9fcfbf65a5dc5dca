/** One numbered line of `tackroom doctor`. */
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
