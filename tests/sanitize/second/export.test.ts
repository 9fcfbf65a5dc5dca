import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { sessionsImportCommand } from '../../../main/cli/sessions-import.js';
import { type Registry, STANDARD } from '../../../main/sanitize/detect/registry.js';
import { exportSession } from '../../../main/trajectory/export-session.js';
import { PI_LINES } from '../../record/import/sessions.js';
import { type Home, openTestHome } from '../../record/import/support.js';
import { inventedTokens } from '../support.js';

let at: Home;
beforeEach(() => {
  at = openTestHome();
});
afterEach(() => at.close());

const blind: Registry = { ...STANDARD, detectors: STANDARD.detectors.map(() => () => undefined) };
const token = inventedTokens('export')['github-pat']!;

test('an export in which the second scan finds something is refused, whatever the detectors say', async () => {
  const source = join(at.home, 'source');
  mkdirSync(source);
  const lines = PI_LINES.map((line) => JSON.stringify(line).replace('Repaired.', `Repaired with ${token}.`));
  writeFileSync(join(source, 'a.jsonl'), lines.join('\n'));
  const io = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough() };
  const { signal } = new AbortController();
  await sessionsImportCommand({ path: source, harness: 'pi', home: at.home }, { ...io, interactive: false, signal });
  const { id } = at.store.session.list()[0]!;
  for (const format of ['atif', 'native']) {
    expect(() => exportSession(at.store, id, { format, registry: blind })).toThrow(/something private/);
    const text = exportSession(at.store, id, { format }).text();
    expect(text).toContain('Repaired with REDACTED_GITHUB_PAT_1.');
    expect(text).not.toContain(token);
  }
});
