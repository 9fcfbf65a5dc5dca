import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { _electron, type ElectronApplication } from 'playwright-core';
import { afterAll, describe, expect, it } from 'vitest';

const checkout = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** Path of Electron's binary, or why there is none to run. */
function findElectron(): { file: string } | { reason: string } {
  const dist = join(checkout, 'node_modules', 'electron');
  const name = join(dist, 'path.txt');
  if (!existsSync(name)) return { reason: "Electron's binary was never fetched (npm start tries it)" };
  const file = join(dist, 'dist', readFileSync(name, 'utf8').trim());
  if (!existsSync(file)) return { reason: "Electron's binary is missing" };
  if (!existsSync(join(checkout, 'dist', 'main', 'app', 'index.js'))) return { reason: 'the app is not built' };
  if (process.platform === 'linux' && !process.env.DISPLAY && !process.env.WAYLAND_DISPLAY)
    return { reason: 'there is no display' };
  return { file };
}

const found = findElectron();
const home = mkdtempSync(join(tmpdir(), 'tackroom-electron-'));
let electron: ElectronApplication | undefined;
afterAll(async () => {
  await electron?.close();
  rmSync(home, { recursive: true, force: true });
});

describe('the desktop app in a real Electron', () => {
  it('opens its window, answers a call, and keeps the page in its sandbox', { timeout: 120_000 }, async ({ skip }) => {
    if ('reason' in found) return skip(found.reason);
    electron = await _electron.launch({
      executablePath: found.file,
      args: [checkout, ...(process.getuid?.() === 0 ? ['--no-sandbox'] : [])],
      env: { ...(process.env as Record<string, string>), TACKROOM_HOME: home },
    });
    const page = await electron.firstWindow();
    await page.waitForLoadState('domcontentloaded');
    expect(page.url()).toMatch(/^app:\/\/tackroom\//);
    const seen = await page.evaluate(async () => {
      const scope = globalThis as unknown as Record<string, unknown>;
      const bridge = scope.tackroom as { call(name: string, input: object): Promise<unknown> };
      return {
        node: typeof scope.process,
        require: typeof scope.require,
        reply: await bridge.call('runs.list', {}),
      };
    });
    expect(seen).toMatchObject({ node: 'undefined', require: 'undefined', reply: { ok: true } });
  });

  it('starts a second time only to show the first window', { timeout: 60_000 }, async ({ skip }) => {
    if ('reason' in found) return skip(found.reason);
    const second = spawn(found.file, [checkout], { env: { ...process.env, TACKROOM_HOME: home }, stdio: 'ignore' });
    const code = await new Promise((resolve) => second.once('exit', resolve));
    expect(code).toBe(0);
  });
});
