/** What a line says to somebody who reads its escapes: the texts that rules made for plain text are run on. */

const NESTING = 4;
/** Values that stand beside each other in a record are no part of one another. */
const BETWEEN = '\n\n';

const ESCAPE = /\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|([nrtbf"'/\\]))/g;
const NAMED: Record<string, string> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' };
const unescaped = (text: string): string =>
  text.replace(ESCAPE, (_, unit?: string, byte?: string, char?: string) =>
    char === undefined ? String.fromCharCode(Number.parseInt((unit ?? byte)!, 16)) : (NAMED[char] ?? char),
  );
const unpercented = (text: string): string =>
  text.replace(/%([0-9a-fA-F]{2})/g, (_, byte: string) => String.fromCharCode(Number.parseInt(byte, 16)));

/** Different texts only; the first is the line itself. */
export function textsOf(line: string): Set<string> {
  const texts = new Set([line]);
  let strings: string[] | null = [];
  try {
    collect(JSON.parse(line), strings, NESTING);
  } catch {
    strings = null;
  }
  let text = strings ? strings.join(BETWEEN) : line;
  texts.add(text);
  for (let times = 0; times < 2 && text.includes('\\'); times++) {
    text = unescaped(text);
    texts.add(text);
  }
  if (/%[0-9a-fA-F]{2}/.test(text)) texts.add(unpercented(text));
  return texts;
}

/** All strings of a document, keys too, and of documents within them. */
function collect(value: unknown, out: string[], nesting: number): void {
  if (typeof value === 'string') {
    out.push(value);
    if (nesting > 0 && /^\s*[[{"]/.test(value)) collectInner(value, out, nesting - 1);
  } else if (Array.isArray(value)) for (const one of value) collect(one, out, nesting);
  else if (typeof value === 'object' && value !== null)
    for (const [key, one] of Object.entries(value)) {
      // A rule that asks for a name and its value finds both.
      if (typeof one === 'string') out.push(`${key}=${one}`);
      else out.push(key);
      collect(one, out, nesting);
    }
}

function collectInner(text: string, out: string[], nesting: number): void {
  try {
    collect(JSON.parse(text), out, nesting);
  } catch {
    // It only looks like a document.
  }
}
