/** Check digits that can be verified offline. */
import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** CRC-32 of `body` as six base-62 digits: the tail of GitHub and npm tokens. */
export function crc32Base62(body: string): string {
  let value = crc32Of(body);
  let out = '';
  for (let i = 0; i < 6; i++) {
    out = BASE62[value % 62]! + out;
    value = Math.floor(value / 62);
  }
  return out;
}

/** True for `prefix_` + 30 characters + their checksum. */
export function hasTokenChecksum(token: string): boolean {
  const body = token.slice(token.indexOf('_') + 1);
  return body.length === 36 && crc32Base62(body.slice(0, 30)) === body.slice(30);
}

function crc32Of(text: string): number {
  if (typeof crc32 === 'function') return crc32(text) >>> 0;
  let crc = 0xffffffff;
  for (const byte of Buffer.from(text)) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  return (crc ^ 0xffffffff) >>> 0;
}

/** Luhn check of payment cards (ISO/IEC 7812-1); `digits` holds digits only. */
export function luhn(digits: string): boolean {
  let sum = 0;
  for (let i = 0; i < digits.length; i++) {
    let digit = Number(digits[digits.length - 1 - i]);
    if (i % 2 === 1) digit = digit > 4 ? digit * 2 - 9 : digit * 2;
    sum += digit;
  }
  return sum % 10 === 0;
}

/** Mod-97 check of an IBAN (ISO 13616), blanks removed. */
export function ibanValid(iban: string): boolean {
  const digits = (iban.slice(4) + iban.slice(0, 4)).replace(/[A-Z]/g, (letter) => String(letter.charCodeAt(0) - 55));
  let rest = 0;
  for (const digit of digits) rest = (rest * 10 + Number(digit)) % 97;
  return rest === 1;
}

const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

/** A Bitcoin private key in wallet import format: base58 with four bytes of a double SHA-256 at its end. */
export function isWif(text: string): boolean {
  let number = 0n;
  for (const c of text) {
    const digit = BASE58.indexOf(c);
    if (digit < 0) return false;
    number = number * 58n + BigInt(digit);
  }
  const hex = number.toString(16);
  const bytes = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex');
  if (bytes[0] !== 0x80 || (bytes.length !== 37 && bytes.length !== 38)) return false;
  const sha = (part: Uint8Array): Buffer => createHash('sha256').update(part).digest();
  return sha(sha(bytes.subarray(0, -4)))
    .subarray(0, 4)
    .equals(bytes.subarray(-4));
}
