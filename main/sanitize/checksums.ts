/** Check digits that can be verified offline. */
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
