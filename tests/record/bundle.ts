/** Bundles a TypeScript entry so that a child process can run it without a build of the whole app. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'vite';

const root = join(import.meta.dirname, '../..');

export interface Bundle {
  /** The script to run with node. */
  file: string;
  remove(): void;
}

/** `entry` is relative to the repository. Packages stay outside the bundle. */
export async function bundle(entry: string): Promise<Bundle> {
  const parent = join(root, 'build', 'test');
  mkdirSync(parent, { recursive: true });
  const outDir = mkdtempSync(join(parent, 'bundle-'));
  await build({
    root,
    configFile: false,
    logLevel: 'error',
    build: { ssr: join(root, entry), outDir, rollupOptions: { output: { entryFileNames: 'entry.mjs' } } },
  });
  return { file: join(outDir, 'entry.mjs'), remove: () => rmSync(outDir, { recursive: true, force: true }) };
}
