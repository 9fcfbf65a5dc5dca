/** Replaces one string member of a JSON object in its text and leaves every other byte as it is. */

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** End of the string that begins at `at`, behind its closing quote. */
function stringEnd(bytes: Buffer, at: number): number {
  for (let i = at + 1; i < bytes.length; i++) {
    if (bytes[i] === BACKSLASH) i++;
    else if (bytes[i] === QUOTE) return i + 1;
  }
  return bytes.length;
}

const isSpace = (byte: number | undefined): boolean => byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d;

/** The same for a text of which more is to come: only what is whole is replaced, and only its first occurrence. */
export function replaceEarlyMember(bytes: Buffer, name: string, value: string): Buffer | null {
  return replace(bytes, name, value, true);
}

/**
 * `bytes`: valid JSON, an object. null: the object has no such member, or one that is no string. A name that is repeated counts by its
 * last occurrence, as in JSON.parse; all of them are replaced.
 */
export function replaceMember(bytes: Buffer, name: string, value: string): Buffer | null {
  return replace(bytes, name, value, false);
}

function replace(bytes: Buffer, name: string, value: string, early: boolean): Buffer | null {
  const key = Buffer.from(JSON.stringify(name));
  const parts: Buffer[] = [];
  let copied = 0;
  let depth = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === 0x7b || byte === 0x5b) depth++;
    else if (byte === 0x7d || byte === 0x5d) depth--;
    if (byte !== QUOTE) continue;
    const end = stringEnd(bytes, at);
    let next = end;
    while (isSpace(bytes[next])) next++;
    const isKey = depth === 1 && bytes[next] === 0x3a && bytes.subarray(at, end).equals(key);
    at = end - 1;
    if (!isKey) continue;
    next++;
    while (isSpace(bytes[next])) next++;
    if (bytes[next] !== QUOTE) return null;
    parts.push(bytes.subarray(copied, next), Buffer.from(JSON.stringify(value)));
    copied = stringEnd(bytes, next);
    if (early) break;
    at = copied - 1;
  }
  // The string may end where the text goes on.
  if (early && copied === bytes.length) return null;
  return parts.length === 0 ? null : Buffer.concat([...parts, bytes.subarray(copied)]);
}
