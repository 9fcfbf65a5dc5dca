import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Reporter, TestModule } from 'vitest/node';

const checkout = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** One skipped test, as written to the report. */
export interface SkippedTest {
  file: string;
  name: string;
  /** What the test said when it skipped itself; null when it gave none. */
  reason: string | null;
}

/** Writes which tests were skipped and why to `output`, for the summary of `npm test`. */
export class SkipReporter implements Reporter {
  constructor(private readonly output: string) {}

  onTestRunEnd(modules: ReadonlyArray<TestModule>): void {
    const skipped: SkippedTest[] = [];
    let total = 0;
    for (const module of modules) {
      for (const test of module.children.allTests()) {
        total++;
        const result = test.result();
        if (result.state !== 'skipped') continue;
        const file = relative(checkout, module.moduleId);
        skipped.push({ file, name: test.fullName, reason: result.note ?? null });
      }
    }
    mkdirSync(dirname(this.output), { recursive: true });
    writeFileSync(this.output, `${JSON.stringify({ total, skipped }, null, 1)}\n`);
  }
}
