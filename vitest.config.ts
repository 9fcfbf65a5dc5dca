import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { SkipReporter } from './tests/support/skip-reporter.ts';

/** Set by scripts/test.mjs: where to write which tests were skipped and why. */
const skipReport = process.env.TACKROOM_SKIP_REPORT;
const electronStub = fileURLToPath(new URL('./tests/stubs/electron.ts', import.meta.url));
/** Run on their own: they take long or measure. */
const APART = ['tests/soak/**', 'tests/bench/**', 'tests/fuzz/**'];
const NOT_TESTS = ['**/node_modules/**', 'dist/**', 'build/**'];

export default defineConfig({
  resolve: { alias: [{ find: /^electron(\/(main|renderer|common))?$/, replacement: electronStub }] },
  test: {
    reporters: skipReport ? ['default', new SkipReporter(skipReport)] : ['default'],
    pool: 'forks',
    setupFiles: ['./tests/support/property-seed.ts'],
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    teardownTimeout: 10_000,
    // On a busy machine a new process takes seconds to say its first word.
    expect: { poll: { timeout: 20_000 } },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['tests/**/*.test.{ts,mjs}'],
          exclude: [...NOT_TESTS, ...APART, 'tests/e2e/**', 'tests/renderer/**'],
        },
      },
      {
        extends: true,
        test: { name: 'renderer', environment: 'happy-dom', include: ['tests/renderer/**/*.test.{ts,tsx}'] },
      },
      {
        extends: true,
        test: { name: 'e2e', testTimeout: 180_000, hookTimeout: 180_000, include: ['tests/e2e/**/*.test.ts'] },
      },
    ],
  },
});
