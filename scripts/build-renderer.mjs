// Builds the window into dist/renderer.
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

await build({ configFile: fileURLToPath(new URL('../renderer/vite.config.ts', import.meta.url)), logLevel: 'warn' });
