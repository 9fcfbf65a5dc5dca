/** Where bytes first stand in whole within `bytes[from..to)`; -1: nowhere. Buffer.indexOf is slow where the first byte is a frequent one. */
import { scanAddon } from './create-scanner.js';

export function indexOf(bytes: Buffer, from: number, to: number, wanted: Buffer): number {
  const addon = scanAddon();
  return addon ? addon.indexOf(bytes, from, to, wanted) : bytes.subarray(0, to).indexOf(wanted, from);
}
