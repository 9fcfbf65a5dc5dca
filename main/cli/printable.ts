/** Recorded text on a terminal: its control characters must not reach it. */

export const printable = (text: string): string =>
  text.replace(/[^\P{Cc}\n\t]/gu, (c) => `\\x${c.charCodeAt(0).toString(16).padStart(2, '0')}`);

/** The same as one line of at most `length` characters. */
export function oneLine(text: string, length: number): string {
  const line = printable(text.replace(/\s+/g, ' ').trim());
  return line.length > length ? `${line.slice(0, length - 1)}…` : line;
}
