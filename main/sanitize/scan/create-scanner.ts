/** The native scanner where its addon was built, else the TypeScript one. */
import { type KnownTables, KnownValues } from './known-values.js';
import type { ByteScanner, Tables } from './layout.js';
import { TypeScriptScanner } from './scanner.js';

export function createScanner(tables: Tables, known: KnownTables | null): ByteScanner {
  return new TypeScriptScanner(tables, known ? new KnownValues(known) : null);
}
