/** Types of the addon of the byte scanner (`build/native/scan.node`, native/src/scan) and its loader. */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { KnownTables } from '../main/sanitize/scan/known-values.js';
import type { ByteScanner, Tables } from '../main/sanitize/scan/layout.js';
import { packageRoot } from './addon.js';

export interface ScanAddon {
  /**
   * Copies the tables. Its results lie in memory that the next one overwrites. `scan` throws where the input is beyond 2 GB or is
   * taken away meanwhile, and what the sink throws.
   */
  ByteScanner: new (
    tables: Tables,
    known: KnownTables | null,
  ) => ByteScanner;
  /** Finds any of many texts of at least four bytes; they are numbered as they are added. */
  Needles: new () => {
    /** The texts one after the other, and where each ends. Errors: RangeError for one that is too short, and beyond 1 GB of them. */
    add(texts: Uint8Array, ends: Int32Array): void;
    /** Every place of one of them: where it begins and ends and its number, three numbers each, in no order. */
    find(bytes: Uint8Array): Int32Array;
    /** Gives its memory back; it is of no use afterwards. */
    close(): void;
  };
  /**
   * Fills `out` with `input[from..to)` in which stand-ins replace ranges: four numbers each (start, end, entity, certainty), in order. The
   * stand-in of an entity lies in `standIns` between its number in `starts` and the next. Errors: RangeError where they do not fit.
   */
  splice(
    input: Uint8Array,
    from: number,
    to: number,
    ranges: Int32Array,
    standIns: Uint8Array,
    starts: Int32Array,
    out: Uint8Array,
  ): void;
  /**
   * Where windows of three bytes begin that may be wanted; letters count as small. `places` says of a pair of bytes, the first in the high
   * half, whether it begins one (1) or ends one (2); `windows` says it by the high half of the hash of all three. Both have 65,536 bytes.
   */
  pairWindows(bytes: Uint8Array, places: Uint8Array, windows: Uint8Array): Int32Array;
  /** Whether one of the names, which lie one after the other up to where each ends, stands before a quote within `bytes[from..to)`. */
  holdsName(bytes: Uint8Array, from: number, to: number, names: Uint8Array, ends: Int32Array): boolean;
  /** How often `byte` stands in `bytes`. */
  count(bytes: Uint8Array, byte: number): number;
  /** Where `wanted` first stands in whole within `bytes[from..to)`; -1: nowhere. */
  indexOf(bytes: Uint8Array, from: number, to: number, wanted: Uint8Array): number;
}

/** Null where the addon was not built. Errors: it does not load. */
export function loadScanAddon(): ScanAddon | null {
  const file = join(packageRoot().replace(/app\.asar$/, 'app.asar.unpacked'), 'build', 'native', 'scan.node');
  return existsSync(file) ? (createRequire(import.meta.url)(file) as ScanAddon) : null;
}
