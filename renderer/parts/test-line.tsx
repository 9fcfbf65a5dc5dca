import type { TestResult } from '../../contract/connect-calls.js';
import { S } from '../strings.js';

/** How the test call went; spoken when it changes. */
export function TestLine({ result }: { result: TestResult | 'running' | undefined }) {
  const done = result !== undefined && result !== 'running' ? result : null;
  const tone = done === null ? 'muted' : done.outcome === 'arrived' ? 'connect-good' : 'connect-bad';
  return (
    <p className={`connect-test ${tone}`} aria-live="polite">
      {result === 'running' && S.connect.testing}
      {done && S.connect.testText(done)}
    </p>
  );
}
