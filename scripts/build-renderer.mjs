// Builds the window: `node scripts/build-renderer.mjs [FOLDER]`, into dist/renderer unless told.
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

const [folder] = process.argv.slice(2);
process.env.NODE_ENV = 'production';
await build({
  configFile: fileURLToPath(new URL('../renderer/vite.config.ts', import.meta.url)),
  logLevel: 'warn',
  build: folder ? { outDir: resolve(folder) } : {},
});
