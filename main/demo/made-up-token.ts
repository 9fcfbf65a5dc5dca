/** Invented credentials with valid checksums: what a sanitizer must find, and what opens nothing. */
import { crc32Base62 } from '../sanitize/checksums.js';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** A classic GitHub token: `ghp_`, 30 characters, then their CRC-32 in six base-62 digits. */
export function makeGithubToken(random: Uint8Array): string {
  const body = Array.from({ length: 30 }, (_, i) => ALPHABET[random[i % random.length]! % 62]).join('');
  return `ghp_${body}${crc32Base62(body)}`;
}
