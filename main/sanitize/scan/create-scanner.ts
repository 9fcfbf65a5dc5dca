/** The native scanner where its addon was built, else the TypeScript one. TACKROOM_SCANNER=typescript or native asks for one. */
import { loadScanAddon, type ScanAddon } from '../../../native/scan-addon.js';
import { type KnownTables, KnownValues } from './known-values.js';
import type { ByteScanner, Tables } from './layout.js';
import { TypeScriptScanner } from './scanner.js';

/** Undefined until the first scanner is wanted. */
let addon: ScanAddon | null | undefined;

/** Null: what it does is to be done in TypeScript. Errors: the native one was asked for, and its addon is absent or does not load. */
export function scanAddon(): ScanAddon | null {
  const wanted = process.env.TACKROOM_SCANNER;
  if (wanted === 'typescript') return null;
  if (addon === undefined) {
    try {
      addon = loadScanAddon();
    } catch (error) {
      if (wanted === 'native') throw error;
      addon = null;
    }
  }
  if (wanted === 'native' && !addon) throw new Error('The native scanner is not built. Run: npm run setup');
  return addon;
}

/** Errors: as `scanAddon`. */
export function createScanner(tables: Tables, known: KnownTables | null): ByteScanner {
  const native = scanAddon();
  return native
    ? new native.ByteScanner(tables, known)
    : new TypeScriptScanner(tables, known ? new KnownValues(known) : null);
}
