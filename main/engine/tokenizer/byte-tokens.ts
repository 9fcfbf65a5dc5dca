/** Tokens that stand for one byte in vocabularies made of characters: `<0x00>` to `<0xFF>`. */
export function byteToken(byte: number): string {
  return `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`;
}

const BYTE_TOKEN = /^<0x([0-9A-Fa-f]{2})>$/;

/** What a token of such a vocabulary stands for; U+2581 is its space. */
export function characterTokenBytes(text: string): Uint8Array {
  const byte = BYTE_TOKEN.exec(text)?.[1];
  return byte === undefined
    ? Buffer.from(text.replaceAll('\u2581', ' '), 'utf8')
    : Buffer.of(Number.parseInt(byte, 16));
}
