/** The Recording screen in a real browser, over the real store. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { changeRecordingSettings, recordingSettings, rememberSweep } from '../../main/record/settings.js';
import { accessibilityProblems } from './accessibility.js';
import { chromiumPath, launchBrowser, NO_CHROMIUM } from './browser.js';
import { MARKED_SESSION, putManySessions, recordSession } from './seed-sessions.js';
import { startWindowApp, type WindowApp } from './window-app.js';

const SHOTS = fileURLToPath(new URL('../../build/screenshots', import.meta.url));

describe.skipIf(!chromiumPath())(`recording in a browser${chromiumPath() ? '' : `: ${NO_CHROMIUM}`}`, () => {
  let app: WindowApp;
  let browser: Browser;
  let page: Page;
  let dark: string[];
  const settings = () => recordingSettings(app.store);
  const shoot = (name: string) => page.screenshot({ path: join(SHOTS, `recording-${name}.png`) });

  beforeAll(async () => {
    mkdirSync(SHOTS, { recursive: true });
    app = await startWindowApp();
    const now = Date.now();
    putManySessions(app.store, 40, now - 600_000);
    recordSession(app.recorder, { ...MARKED_SESSION, endedAt: now });
    const bytes = { bytesBefore: 48 << 20, bytesAfter: 31 << 20 };
    rememberSweep(app.store, { at: now - 1_800_000, removedByAge: 12, removedBySize: 3, kept: 2, ...bytes });
    browser = await launchBrowser();
    page = await browser.newPage({ viewport: { width: 1320, height: 860 }, colorScheme: 'dark' });
    await page.goto(app.url);
    await page.getByText('Connected').waitFor();
  });
  afterAll(async () => {
    await browser?.close();
    await app?.close();
  });

  it('is reached by keyboard and says what is stored', async () => {
    await page.keyboard.press('g');
    await page.keyboard.press('e');
    await page.getByRole('heading', { name: 'Recording', level: 1 }).waitFor();
    await page.getByText('15 sessions deleted, 17 MiB freed').waitFor();
    expect(await page.getByText('41', { exact: true }).count()).toBe(1);
    expect(await page.getByText('recording paused').count()).toBe(0);
  });

  it('pauses for a time or until resumed, and every screen says so', async () => {
    await page.getByRole('button', { name: 'Pause for 30 minutes' }).click();
    await page.getByRole('link', { name: 'recording paused, 30 m left' }).waitFor();
    expect(settings().paused?.until).toBeGreaterThan(Date.now());
    await page.getByRole('button', { name: 'Pause until resumed' }).click();
    await page.getByText('Recording stays off until you resume it.').waitFor();
    expect(settings().paused).toEqual({ until: null });
    await page.keyboard.press('g');
    await page.keyboard.press('h');
    await page.getByRole('link', { name: 'recording paused' }).click();
    await page.getByRole('button', { name: 'Resume recording' }).click();
    await page.getByRole('button', { name: 'Pause for 30 minutes' }).waitFor();
    expect(settings().paused).toBeNull();
  });

  it('excludes folders and takes them in again; a wrong one is told and kept in the field', async () => {
    const field = page.getByLabel('Folder of a project');
    await field.fill('/nowhere/at-all');
    await field.press('Enter');
    await page.getByText('There is no folder /nowhere/at-all.').waitFor();
    expect(await field.inputValue()).toBe('/nowhere/at-all');
    await field.fill('relative');
    await field.press('Enter');
    await page.getByText('relative is not a whole path.').waitFor();
    await field.fill(`${app.store.home}/`);
    await field.press('Enter');
    await page.getByRole('button', { name: `Record again: ${app.store.home}` }).waitFor();
    expect(settings().excluded).toEqual([app.store.home]);
    expect(await field.inputValue()).toBe('');
    for (let left = 2; left > 0; left--) await page.getByRole('button', { name: 'Close' }).first().click();
  });

  it('asks before limits delete, and captures the workspace with consent only', async () => {
    await page.getByLabel('Delete after').fill('90');
    await page.getByLabel('Delete beyond').fill('5120');
    await page.getByRole('button', { name: 'Apply limits' }).click();
    const dialog = page.getByRole('dialog');
    await dialog
      .getByText('Sessions not used for 90 days are deleted. The oldest are deleted until the store holds 5.0 GiB.')
      .waitFor();
    expect(settings().maxAgeDays).toBeNull();
    await dialog.getByRole('button', { name: 'Apply limits' }).click();
    await expect.poll(() => settings()).toMatchObject({ maxAgeDays: 90, maxBytes: 5 * 2 ** 30, workspace: false });
    await page.getByLabel('Delete after').fill('soon');
    expect(await page.getByRole('button', { name: 'Apply limits' }).isDisabled()).toBe(true);
    await page.getByLabel('Delete after').fill('90');
    // It shows what is saved, which `check` does not wait for.
    const capture = page.getByLabel('Capture it when a session begins');
    await capture.click();
    await expect.poll(() => settings().workspace).toBe(true);
    await expect.poll(() => capture.isChecked()).toBe(true);
  });

  it('is readable in both themes, and by a screen reader', async () => {
    changeRecordingSettings(app.store, (before) => ({ ...before, paused: { until: Date.now() + 1_500_000 } }));
    await page.reload();
    await page.getByRole('link', { name: /recording paused, 25 m left/ }).waitFor();
    await shoot('dark');
    dark = await accessibilityProblems(page);
    await page.emulateMedia({ colorScheme: 'light' });
    await shoot('light');
    expect([...dark, ...(await accessibilityProblems(page))]).toEqual([]);
    await page.setViewportSize({ width: 620, height: 900 });
    await shoot('narrow');
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth)).toBe(true);
  });
});
