import { createHash } from 'node:crypto';

/** 47-bit seed from named parts: equal parts, equal seed, on every machine. */
export function seedFrom(...parts: (string | number)[]): number {
  const digest = createHash('sha256').update(parts.join('\u0000')).digest();
  return digest.readUIntBE(0, 6) % 2 ** 47;
}
