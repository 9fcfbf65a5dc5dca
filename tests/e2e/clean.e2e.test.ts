/** The Clean screens in a real browser, over the real store and the real thread that looks at sessions. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { policyOf, registryOf } from '../../main/sanitize/review/policy.js';
import { exportSession } from '../../main/trajectory/export-session.js';
import { Vault } from '../../main/vault/vault.js';
import { ACCOUNT, PERSON, PROJECT, recordPrivate, TOKEN } from '../sanitize/review/support.js';
import { accessibilityProblems } from './accessibility.js';
import { chromiumPath, launchBrowser, NO_CHROMIUM } from './browser.js';
import { startWindowApp, type WindowApp } from './window-app.js';

const SHOTS = fileURLToPath(new URL('../../build/screenshots', import.meta.url));
const WAIT_MS = 15_000;
const HOUR = 3_600_000;
const THEMES = ['dark', 'light'] as const;

describe.skipIf(!chromiumPath())(`the Clean screens${chromiumPath() ? '' : `: ${NO_CHROMIUM}`}`, () => {
  let app: WindowApp;
  let browser: Browser;
  let page: Page;
  let id: string;
  const complaints: string[] = [];
  const exported = (session = id): string =>
    exportSession(app.store, session, {
      format: 'atif',
      registry: registryOf(policyOf(app.store, new Vault(app.store.home), session)),
    }).text();
  const original = (text: string) => page.locator('.clean-original', { hasText: text }).first();
  const copy = (text: string) => page.locator('.clean-clean', { hasText: text }).first();
  const verdict = () => page.locator('.clean-verdict .pill').first();
  const shots = async (name: string): Promise<void> => {
    for (const colorScheme of THEMES) {
      await page.emulateMedia({ colorScheme });
      await page.evaluate(() => document.querySelector('main')?.scrollTo(0, 0));
      expect(await accessibilityProblems(page)).toEqual([]);
      await page.screenshot({ path: join(SHOTS, `clean-${name}-${colorScheme}.png`) });
    }
  };
  const open = async (session: string): Promise<void> => {
    await page.goto(`${app.url.split('#')[0]}#/clean/${session}`);
  };
  /** Selects `text` on the left as a person would. */
  const selectText = (text: string): Promise<boolean> =>
    page.evaluate((wanted) => {
      for (const cell of document.querySelectorAll('[data-original]')) {
        const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
        for (let node = walker.nextNode(); node; node = walker.nextNode()) {
          const at = node.textContent?.indexOf(wanted) ?? -1;
          if (at < 0) continue;
          document.getSelection()?.setBaseAndExtent(node, at, node, at + wanted.length);
          return true;
        }
      }
      return false;
    }, text);

  beforeAll(async () => {
    mkdirSync(SHOTS, { recursive: true });
    app = await startWindowApp();
    browser = await launchBrowser();
    page = await browser.newPage({ viewport: { width: 1360, height: 900 }, colorScheme: 'dark' });
    page.setDefaultTimeout(WAIT_MS);
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(error.message));
    await page.goto(app.url);
    await page.getByText('Connected').waitFor();
  });
  afterAll(async () => {
    await browser?.close();
    await app?.close();
  });

  it('says that nothing waits where there is no session', async () => {
    await page.keyboard.press('g');
    await page.keyboard.press('l');
    await page.getByRole('heading', { name: 'Clean', level: 1 }).waitFor();
    await page.getByText('Nothing waiting').waitFor();
    await shots('empty');
  });

  it('lists sessions by verdict once they are looked at', async () => {
    const at = Date.now();
    id = recordPrivate(app.store, { at: at - HOUR });
    recordPrivate(app.store, { plain: true, title: 'Rename the build target', at: at - 2 * HOUR });
    app.recorded(id);
    await page.getByText('Not looked at yet 2').waitFor();
    await page.getByRole('button', { name: 'Look at all of them' }).click();
    await page.getByText('To look at 1').waitFor();
    await page.getByRole('button', { name: 'Clean 1' }).waitFor();
    const rows = page.locator('.clean-item');
    expect(await rows.first().textContent()).toContain('Where is the deploy key?');
    expect(await rows.first().textContent()).toContain('by its looks alone (person)');
    await shots('list');
    await page.getByRole('button', { name: 'Clean 1' }).click();
    await expect.poll(() => rows.count()).toBe(1);
    await page.getByRole('button', { name: 'All 2' }).click();
  });

  it('shows both sides of each record, marks what goes, and steps through it', async () => {
    await page.getByRole('link', { name: 'Where is the deploy key?' }).click();
    await original(TOKEN).waitFor();
    await copy('REDACTED_GITHUB_PAT_1').waitFor();
    expect(await page.locator('.clean-clean').allInnerTexts()).not.toContain(TOKEN);
    expect((await page.locator('.clean-clean').allInnerTexts()).join()).not.toContain(ACCOUNT);
    await page.getByText('24 of 24 of known kinds').waitFor();
    const selected = () => page.locator('mark.mark-on').first().getAttribute('data-place');
    const first = await selected();
    await page.keyboard.press('n');
    await expect.poll(selected).not.toBe(first);
    await page.keyboard.press('p');
    await expect.poll(selected).toBe(first);
    await page.locator('.clean-original mark', { hasText: TOKEN }).click();
    await page.getByText('its checksum').waitFor();
    await page.locator('.clean-facts', { hasText: 'observation.results[0].content' }).waitFor();
    await shots('findings');
  });

  it('keeps a value with a key, asks to look at it, and undoes it', async () => {
    await page.locator('.clean-original mark', { hasText: PERSON }).first().click();
    await page.keyboard.press('k');
    await page.getByText('1 value stays because you said so.').waitFor();
    await copy(PERSON).waitFor();
    expect(exported()).toContain(PERSON);
    expect(exported()).not.toContain(TOKEN);
    await page.getByRole('button', { name: /^Undo: Keep/ }).waitFor();
    await page.keyboard.press('u');
    await page.getByText('1 value stays because you said so.').waitFor({ state: 'detached' });
    expect(exported()).not.toContain(PERSON);
  });

  it('replaces a selected text everywhere, in the export too, and survives a reload', async () => {
    expect(exported()).toContain(PROJECT);
    expect(await selectText(PROJECT)).toBe(true);
    await page.getByText('Text that you selected').waitFor();
    await page.getByRole('button', { name: /Replace all like this/ }).click();
    await copy('REDACTED_MARKED_1').waitFor();
    expect(exported()).not.toContain(PROJECT);
    expect(exported()).not.toContain(Buffer.from(`the ${PROJECT} box`).toString('base64').slice(0, 16));
    await page.reload();
    await copy('REDACTED_MARKED_1').waitFor();
    await page.locator('.side-path', { hasText: PROJECT }).waitFor();
  });

  it('always: becomes a rule for all sessions, named by the user', async () => {
    await page.getByRole('button', { name: /^Undo: Replace/ }).click();
    await copy('REDACTED_MARKED_1').waitFor({ state: 'detached' });
    expect(await selectText(PROJECT)).toBe(true);
    await page.getByText('Text that you selected').waitFor();
    await page.keyboard.press('a');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name of the rule').fill('project');
    await page.screenshot({ path: join(SHOTS, 'clean-always.png') });
    await dialog.getByRole('button', { name: 'From now on' }).click();
    await copy('REDACTED_PROJECT_1').waitFor();
    const later = recordPrivate(app.store, { title: 'A later one', at: Date.now() - HOUR });
    expect(exported(later)).toContain('REDACTED_PROJECT_1');
    expect(exported(later)).not.toContain(PROJECT);
  });

  it('counts as clean once the user has looked, and the lists say so', async () => {
    expect(await verdict().textContent()).toBe('look at it');
    await page.getByRole('button', { name: 'I have looked at it' }).click();
    await expect.poll(() => verdict().textContent()).toBe('clean');
    await page.keyboard.press('g');
    await page.keyboard.press('s');
    const row = page.locator('.session-row', { hasText: 'Where is the deploy key?' });
    await row.getByText('clean', { exact: true }).waitFor();
    await page.locator('.filters select').nth(2).selectOption('review');
    await expect.poll(() => page.locator('.session-item a').count()).toBeLessThan(3);
    expect(await page.locator('.session-row', { hasText: 'Where is the deploy key?' }).count()).toBe(0);
    await page.screenshot({ path: join(SHOTS, 'clean-sessions.png') });
    await page.locator('.filters select').nth(2).selectOption('');
    await page.locator('.session-row', { hasText: 'Where is the deploy key?' }).click();
    await page.getByRole('link', { name: 'Look at the cleaned copy' }).waitFor();
  });

  it('a rule of the user keeps sessions here: blocked, with why', async () => {
    await open(id);
    await page.getByRole('button', { name: 'Add a rule…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Keep sessions here that hold a value').check();
    await dialog.getByLabel('Name').fill('contract');
    await dialog.getByLabel('Value', { exact: true }).fill('deploy key');
    await page.screenshot({ path: join(SHOTS, 'clean-rule.png') });
    await dialog.getByRole('button', { name: 'Add' }).click();
    await page.getByText('Your rule “contract” keeps sessions like this on this machine.').waitFor();
    expect(await verdict().textContent()).toBe('stays here');
    expect(() => exported()).toThrow(expect.objectContaining({ code: 'REFUSED' }));
    await shots('blocked');
    await page.getByRole('button', { name: /^Undo: Keep sessions here/ }).click();
    await expect.poll(() => verdict().textContent()).toBe('clean');
  });

  it('shows text as text, whatever it looks like', async () => {
    const html = `<img src=x onerror="document.title='run'"><b id="inserted">x</b> of ${ACCOUNT}`;
    const session = recordPrivate(app.store, { title: 'Markup', more: html, at: Date.now() - HOUR });
    await open(session);
    await original('<b id="inserted">').waitFor();
    expect(await page.locator('#inserted').count()).toBe(0);
    expect(await page.title()).not.toBe('run');
  });

  it('folds long records, turns pages, and can be left while it is looked at', async () => {
    const line = `cp /home/${ACCOUNT}/a /srv/b && echo ${'word '.repeat(30)}\n`;
    const session = recordPrivate(app.store, { title: 'Long', more: line.repeat(25_000), at: Date.now() - HOUR });
    await open(session);
    await page.getByText(/Looking for secrets|Replacing them|Reading the session|Planting/).waitFor();
    await shots('loading');
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByText('Looking at the session was cancelled.').waitFor();
    await shots('cancelled');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page
      .getByText(/and [\d,]+ more/)
      .first()
      .waitFor({ timeout: 120_000 });
    expect(await page.locator('mark').count()).toBeLessThan(1000);
    await shots('long');
    complaints.splice(0, complaints.length, ...complaints.filter((text) => !/CANCELLED/.test(text)));
  });

  it('works on a narrow window', async () => {
    await page.setViewportSize({ width: 900, height: 900 });
    await open(id);
    await original(TOKEN).waitFor();
    await page.screenshot({ path: join(SHOTS, 'clean-narrow.png') });
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    expect(wide).toBe(0);
    expect(complaints).toEqual([]);
  });
});
