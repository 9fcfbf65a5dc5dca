/** Values in files that others wrote: whatever is not what it should be becomes nothing. */

const LAST_MS = Date.UTC(9999, 11, 31);

export const asText = (value: unknown): string | null => (typeof value === 'string' ? value : null);

/** A type or a role for a message: never more than a few words, whatever stands there. */
export const quoted = (value: unknown): string =>
  typeof value === 'string' ? JSON.stringify(value.slice(0, 40)) : `of kind ${typeof value}`;

export function asRecord(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}

/** A whole number of tokens, 0 for anything else. */
export function asCount(value: unknown): number {
  return typeof value === 'number' && value > 0 && Number.isSafeInteger(Math.round(value)) ? Math.round(value) : 0;
}

export const asExitCode = (value: unknown): number | null =>
  typeof value === 'number' && Number.isSafeInteger(value) ? value : null;

/** Unix milliseconds of an ISO date or of a number of milliseconds (`unit` 1000: of seconds); null: no time. */
export function asTime(value: unknown, unit = 1): number | null {
  const ms = typeof value === 'string' ? Date.parse(value) : typeof value === 'number' ? value * unit : Number.NaN;
  return ms >= 0 && ms <= LAST_MS ? Math.round(ms) : null;
}

/** Text of a content field: a string, or the text parts of a list; other parts are named. */
export function contentText(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content
    .map((part: unknown) => {
      if (typeof part === 'string') return part;
      const { type, text } = asRecord(part);
      if (typeof text === 'string') return text;
      return typeof type === 'string' && /image|file|audio/.test(type) ? `[${type}]` : '';
    })
    .join('');
}
