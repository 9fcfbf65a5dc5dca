#!/usr/bin/env node
import { existsSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';

const entry = fileURLToPath(new URL('../dist/main/cli/index.js', import.meta.url));
if (!existsSync(entry)) {
  process.stderr.write('tackroom: this checkout is not built yet (ADDON_MISSING)\n  Run: npm run setup\n');
  process.exit(1);
}
await import(pathToFileURL(entry).href);
