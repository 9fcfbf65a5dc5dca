/** Where bytes first stand in whole within `bytes[from..to)`; -1: nowhere. Buffer.indexOf is slow where the first byte is a frequent one. */
import { scanAddon } from './create-scanner.js';

export function indexOf(bytes: Buffer, from: number, to: number, wanted: Buffer): number {
  const addon = scanAddon();
  return addon ? addon.indexOf(bytes, from, to, wanted) : bytes.subarray(0, to).indexOf(wanted, from);
}

/** How often `byte` stands in `bytes`. */
export function count(bytes: Buffer, byte: number): number {
  const addon = scanAddon();
  if (addon) return addon.count(bytes, byte);
  let found = 0;
  for (let at = bytes.indexOf(byte); at >= 0; at = bytes.indexOf(byte, at + 1)) found++;
  return found;
}

/** A test for names that end so, before a quote, within `bytes[from..to)`. */
export function nameTest(names: readonly string[]): (bytes: Buffer, from: number, to: number) => boolean {
  const joined = Buffer.from(names.join(''), 'latin1');
  let end = 0;
  const ends = Int32Array.from(names, (name) => (end += name.length));
  return (bytes, from, to) => {
    const addon = scanAddon();
    if (addon) return addon.holdsName(bytes, from, to, joined, ends);
    const part = bytes.subarray(from, to);
    return names.some((name) => part.indexOf(`${name}"`, 'latin1') >= 0);
  };
}
