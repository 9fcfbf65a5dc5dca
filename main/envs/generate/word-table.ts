/** Splits a block of text into words. */
export function words(text: string): string[] {
  return text.trim().split(/\s+/);
}

/** Reads lines of the form "name: value value" into a record of word lists. */
export function wordTable(text: string): Record<string, string[]> {
  const table: Record<string, string[]> = {};
  for (const line of text.trim().split('\n')) {
    const [name, values] = line.split(':') as [string, string];
    table[name.trim()] = words(values);
  }
  return table;
}
