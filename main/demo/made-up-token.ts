/** Invented credentials with valid checksums: what a sanitizer must find, and what opens nothing. */
import { crc32 } from 'node:zlib';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

function base62(value: number, length: number): string {
  let text = '';
  for (let n = value; n > 0; n = Math.floor(n / 62)) text = ALPHABET[n % 62] + text;
  return text.padStart(length, '0');
}

/** A classic GitHub token: `ghp_`, 30 characters, then their CRC-32 in six base-62 digits. */
export function makeGithubToken(random: Uint8Array): string {
  const body = Array.from({ length: 30 }, (_, i) => ALPHABET[random[i % random.length]! % 62]).join('');
  return `ghp_${body}${base62(crc32(body), 6)}`;
}
