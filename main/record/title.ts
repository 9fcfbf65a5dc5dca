/** The first line of a text, short enough for a list. */
const TITLE_LENGTH = 80;

export function titleFrom(text: string): string {
  const line = text.trim().split('\n', 1)[0]!.trim();
  return line.length > TITLE_LENGTH ? `${line.slice(0, TITLE_LENGTH - 1).trimEnd()}…` : line;
}
