import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';

const checkout = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const require = createRequire(import.meta.url);
const config = parse(readFileSync(join(checkout, 'electron-builder.yml'), 'utf8')) as Record<string, unknown>;

interface BuilderConfig {
  validateConfiguration(config: unknown, log: unknown): Promise<void>;
}
const { validateConfiguration } = require('app-builder-lib/out/util/config/config') as BuilderConfig;
const { DebugLogger } = require('builder-util') as { DebugLogger: new (enabled: boolean) => unknown };
const validate = (value: unknown): Promise<void> => validateConfiguration(value, new DebugLogger(false));

describe('electron-builder.yml', () => {
  it('fits the schema of the installed electron-builder, which does refuse mistakes', async () => {
    await validate(structuredClone(config));
    await expect(validate({ ...config, apId: 'x' })).rejects.toThrow(/apId/);
    await expect(validate({ ...config, linux: { targets: 'x' } })).rejects.toThrow();
  });

  it('rebuilds SQLite for Electron and flips every fuse that the security list names', () => {
    expect(config.npmRebuild).toBe(true);
    expect(config.electronFuses).toEqual({
      runAsNode: false,
      enableCookieEncryption: true,
      enableNodeOptionsEnvironmentVariable: false,
      enableNodeCliInspectArguments: false,
      enableEmbeddedAsarIntegrityValidation: true,
      onlyLoadAppFromAsar: true,
      grantFileProtocolExtraPrivileges: false,
    });
  });
});

/** What packaging needs and set-up builds. */
const NEEDED = [
  'dist/main/app/index.js',
  'dist/main/app/preload.cjs',
  'dist/renderer/index.html',
  'build/native/engine.node',
  'build/native/scan.node',
  'build/native/sandbox-launch',
];

describe('a package against a stub of Electron', () => {
  it('holds what the app needs and nothing else', { timeout: 200_000 }, ({ skip }) => {
    if (process.platform !== 'linux') return skip(`the stub is an ELF file, this is ${process.platform}`);
    const missing = NEEDED.filter((path) => !existsSync(join(checkout, path)));
    if (missing.length > 0) return skip(`not built (npm run setup): ${missing.join(', ')}`);
    const { stdout, stderr } = spawnSync(process.execPath, ['scripts/package-stub.mjs'], {
      cwd: checkout,
      encoding: 'utf8',
      timeout: 190_000,
    });
    const report = JSON.parse(stdout.trim().split('\n').at(-1) || '{}') as { faults?: string[]; addons?: number };
    expect(report.faults, stderr).toEqual([]);
    // The engine, the byte scanner, SQLite.
    expect(report.addons).toBe(3);
  });
});
