/** Bundles a TypeScript entry so that a child process can run it without a build of the whole app. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { build } from 'vite';

const root = join(import.meta.dirname, '../..');

export interface Bundle {
  /** The script to run with node. */
  file: string;
  remove(): void;
}

/**
 * `entry` is relative to the repository; so are `threads`, which it starts as files of the same name beside it. Packages stay outside
 * the bundle.
 */
export async function bundle(entry: string, ...threads: string[]): Promise<Bundle> {
  const parent = join(root, 'build', 'test');
  mkdirSync(parent, { recursive: true });
  const outDir = mkdtempSync(join(parent, 'bundle-'));
  await build({
    root,
    configFile: false,
    logLevel: 'error',
    build: {
      ssr: true,
      outDir,
      rollupOptions: {
        input: {
          entry: join(root, entry),
          ...Object.fromEntries(threads.map((file) => [basename(file, '.ts'), join(root, file)])),
        },
        output: { entryFileNames: '[name].js' },
      },
    },
  });
  return { file: join(outDir, 'entry.js'), remove: () => rmSync(outDir, { recursive: true, force: true }) };
}
