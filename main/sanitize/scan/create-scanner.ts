/** The native scanner where its addon was built, else the TypeScript one. TACKROOM_SCANNER=typescript or native asks for one. */
import { loadScanAddon, type ScanAddon } from '../../../native/scan-addon.js';
import { type KnownTables, KnownValues } from './known-values.js';
import type { ByteScanner, Tables } from './layout.js';
import { TypeScriptScanner } from './scanner.js';

/** Undefined until the first scanner is wanted. */
let addon: ScanAddon | null | undefined;

/** Errors: the native one was asked for, and its addon is absent or does not load. */
export function createScanner(tables: Tables, known: KnownTables | null): ByteScanner {
  const wanted = process.env.TACKROOM_SCANNER;
  if (wanted !== 'typescript' && addon === undefined) {
    try {
      addon = loadScanAddon();
    } catch (error) {
      if (wanted === 'native') throw error;
      addon = null;
    }
  }
  if (wanted !== 'typescript' && addon) return new addon.ByteScanner(tables, known);
  if (wanted === 'native') throw new Error('The native scanner is not built. Run: npm run setup');
  return new TypeScriptScanner(tables, known ? new KnownValues(known) : null);
}
