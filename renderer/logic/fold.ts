/** Long text is shown by its first lines until it is opened. */
export const FOLD_LINES = 20;

export interface Folded {
  shown: string;
  hiddenLines: number;
}

/** The first `limit` lines, and how many more there are. */
export function fold(text: string, limit = FOLD_LINES): Folded {
  let end = -1;
  for (let line = 0; line < limit; line++) {
    end = text.indexOf('\n', end + 1);
    if (end < 0) return { shown: text, hiddenLines: 0 };
  }
  const rest = text.slice(end + 1);
  if (rest === '') return { shown: text, hiddenLines: 0 };
  const breaks = rest.split('\n').length;
  return { shown: text.slice(0, end), hiddenLines: rest.endsWith('\n') ? breaks - 1 : breaks };
}
