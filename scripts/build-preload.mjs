// Bundles main/app/preload.ts into dist/main/app/preload.cjs: a sandboxed preload script must be one CommonJS file.
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

await build({
  root,
  configFile: false,
  logLevel: 'warn',
  build: {
    outDir: join(root, 'dist', 'main', 'app'),
    emptyOutDir: false,
    target: 'node22',
    minify: false,
    lib: { entry: join(root, 'main', 'app', 'preload.ts'), formats: ['cjs'], fileName: () => 'preload.cjs' },
    rolldownOptions: { external: ['electron'] },
  },
});
