/**
 * Arguments of a tool call for reading: a call with one text argument (a shell command, mostly) is that text, others are
 * one `name: value` a line, long texts on lines of their own. What is not a JSON object is shown as it was sampled.
 */
export function readableArguments(json: string): string {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    return json;
  }
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return json;
  const entries = Object.entries(value);
  const [only] = entries;
  if (entries.length === 1 && only && typeof only[1] === 'string') return only[1];
  return entries
    .map(([name, item]) => {
      const text = typeof item === 'string' ? item : JSON.stringify(item);
      return text.includes('\n') ? `${name}:\n${text}` : `${name}: ${text}`;
    })
    .join('\n');
}
