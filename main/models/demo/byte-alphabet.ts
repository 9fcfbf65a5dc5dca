/**
 * The printable stand-ins for the 256 bytes that byte-level BPE uses in vocabulary files (GPT-2, `bytes_to_unicode`):
 * printable Latin-1 characters stand for themselves, the other bytes for U+0100 and up, in order.
 */
function build(): string[] {
  const letters: string[] = [];
  let next = 0x100;
  for (let byte = 0; byte < 256; byte++) {
    const printable = (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
    letters.push(String.fromCharCode(printable ? byte : next++));
  }
  return letters;
}

/** Stand-in character of each byte. */
export const BYTE_LETTERS: readonly string[] = build();

const BYTE_OF = new Map(BYTE_LETTERS.map((letter, byte) => [letter, byte]));

/** Text as stand-in characters, one per UTF-8 byte. */
export function toByteLetters(text: string): string {
  return [...Buffer.from(text, 'utf8')].map((byte) => BYTE_LETTERS[byte]).join('');
}

/** The bytes behind stand-in characters. */
export function fromByteLetters(letters: string): Buffer {
  return Buffer.from([...letters].map((letter) => BYTE_OF.get(letter)!));
}
