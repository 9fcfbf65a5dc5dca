/** How the program ends when it is asked to: cleanly, with the exit code shells expect. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const READY =
  existsSync(join(ROOT, 'dist/main/cli/index.js')) && existsSync(join(ROOT, 'build/demo-model/config.json'));
const home = mkdtempSync(join(tmpdir(), 'tackroom-interrupt-'));
afterAll(() => rmSync(home, { recursive: true, force: true }));

describe('tackroom serve', () => {
  if (!READY) {
    it('needs a set-up checkout', ({ skip }) => skip('the program or the demo model is missing: run npm run setup'));
    return;
  }

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('ends with %s as %i and says what is kept', { timeout: 90_000 }, async (signal, code) => {
    const args = ['bin/tackroom.mjs', '--home', home, 'serve', '--port', '0', '--ui-port', '0', '--json'];
    const child = spawn(process.execPath, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] });
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      said += chunk;
    });
    const closed = once(child, 'close');
    const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
    expect(JSON.parse(line)).toMatchObject({ ready: true });
    child.kill(signal);
    expect((await closed)[0]).toBe(code);
    expect(said).toBe('Stopping; everything recorded is kept.\n');
  });
});
