/** The built window in a real browser, over the real server, store, recorder and adapter registry. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accessibilityProblems } from './accessibility.js';
import { chromiumPath, launchBrowser, NO_CHROMIUM } from './browser.js';
import { RUN_ID, seedEvaluation, seedRun, seedStep } from './seed-run.js';
import { MARKED_SESSION, putManySessions, recordSession } from './seed-sessions.js';
import { startWindowApp, type WindowApp } from './window-app.js';

const SHOTS = fileURLToPath(new URL('../../build/screenshots', import.meta.url));
const MANY = 320;
const SEEDED_STEPS = 27;

describe.skipIf(!chromiumPath())(`window in a browser${chromiumPath() ? '' : `: ${NO_CHROMIUM}`}`, () => {
  let app: WindowApp;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let sessionId: string;
  const complaints: string[] = [];

  const watch = (watched: Page): void => {
    watched.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
    watched.on('pageerror', (error) => complaints.push(error.message));
  };
  const show = async (hash: string): Promise<void> => {
    await page.evaluate((to) => {
      location.hash = to;
    }, hash);
  };

  beforeAll(async () => {
    mkdirSync(SHOTS, { recursive: true });
    app = await startWindowApp();
    const now = Date.now();
    putManySessions(app.store, MANY, now - 600_000);
    sessionId = recordSession(app.recorder, { ...MARKED_SESSION, endedAt: now });
    seedRun(app.store, SEEDED_STEPS, 40, now);
    browser = await launchBrowser();
    context = await browser.newContext({ viewport: { width: 1320, height: 860 }, colorScheme: 'dark' });
    page = await context.newPage();
    watch(page);
    await page.goto(app.url);
  });

  afterAll(async () => {
    await browser?.close();
    await app?.close();
  });

  it('signs in with the opened address, hides the token and stays signed in', async () => {
    await page.getByText('Connected').waitFor();
    expect(page.url()).toBe(`http://127.0.0.1:${app.port}/#/`);
    await page.reload();
    await page.getByText('Connected').waitFor();
    const [cookie] = await context.cookies();
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict' });
    expect(await page.evaluate(() => document.cookie)).toBe('');
  });

  it('shows nothing to a browser that has no token', async () => {
    const stranger = await browser.newPage();
    await stranger.goto(`http://127.0.0.1:${app.port}/`);
    await stranger.getByText('This browser is not signed in').waitFor();
    expect(await stranger.getByText('data-questions').count()).toBe(0);
    await stranger.close();
  });

  it('counts the loop as the store does', async () => {
    const count = (stage: string): Promise<string | null> => page.getByTestId(`count-${stage}`).textContent();
    expect(await count('recorded')).toBe(String(MANY + 1));
    expect(await count('tasks')).toBe(String(app.store.task.count({ where: { status: 'kept' } })));
    expect(await count('runs')).toBe('1');
    expect(await count('adapters')).toBe('2');
    await page.getByText('waiting for: 5 rollouts, oldest 4 s').waitFor();
  });

  it('lists sessions without drawing them all, and finds one', async () => {
    await page.keyboard.press('g');
    await page.keyboard.press('s');
    await page.getByText(`${MANY + 1} sessions`).waitFor();
    const rows = page.locator('a.session-row');
    expect(await rows.count()).toBeLessThan(60);
    await page.locator('.session-scroll').evaluate((view) => view.scrollTo(0, view.scrollHeight));
    await page.getByText(`(${MANY - 1})`).waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('march ledger');
    await page.getByText('1 session', { exact: true }).waitFor();
    await page.getByLabel('Search sessions').fill('');
    await page.getByLabel('With blocked calls').check();
    await page.getByText('1 session', { exact: true }).waitFor();
    await page.getByLabel('With blocked calls').uncheck();
  });

  it('shows a session as text, folded, with the verdict', async () => {
    await show(`#/sessions/${sessionId}`);
    await page.getByText('How much was spent in March?').waitFor();
    expect(await page.locator('.transcript img').count()).toBe(0);
    expect(await page.title()).toBe('Tackroom');
    await page.getByText('It writes the file that the score is read from.', { exact: true }).waitFor();
    const result = page.locator('.call-result').first();
    expect(await result.locator('pre').textContent()).not.toContain('2026-03-4,oats,54');
    await result.getByRole('button', { name: '41 more lines' }).click();
    expect((await result.locator('pre').textContent())?.split('\n')).toHaveLength(61);
    await page.keyboard.press('b');
    expect(await page.evaluate(() => document.activeElement?.className)).toContain('call-block');
  });

  it('adds what the gateway records to the open session', async () => {
    const live = recordSession(app.recorder, {
      ...MARKED_SESSION,
      turns: [],
      title: 'Live one',
      ask: 'And April?',
      closing: 'Working.',
      endedAt: Date.now(),
    });
    await show(`#/sessions/${live}`);
    await page.getByText('Working.').waitFor();
    const [request] = app.store.request.list({ where: { sessionId: live } });
    app.store.request.put({
      ...request!,
      id: 'req_more',
      seq: 1,
      createdAt: Date.now(),
      answer: null,
      error: 'The engine was restarted.',
      status: 'error',
    });
    app.recorded(live);
    await page.getByText('The engine was restarted.').waitFor();
  });

  it('draws live points as they are published', async () => {
    await show(`#/runs/${RUN_ID}`);
    await page.getByTestId('run-step').getByText(`step ${SEEDED_STEPS} of 40`).waitFor();
    const reward = page.getByTestId('chart-reward');
    const canvas = reward.locator('canvas');
    await canvas.waitFor();
    const before = await canvas.evaluate((element) => (element as HTMLCanvasElement).toDataURL());
    const step = seedStep(SEEDED_STEPS + 1, Date.now());
    app.bus.publish('run.step', {
      runId: RUN_ID,
      step: step.step,
      at: step.createdAt,
      metrics: { ...step.metrics, reward: 0.9871 },
    });
    await page
      .getByTestId('run-step')
      .getByText(`step ${SEEDED_STEPS + 1} of 40`)
      .waitFor();
    await reward.locator('.legend-item', { hasText: 'raw' }).getByText('0.99').waitFor();
    await expect.poll(() => canvas.evaluate((element) => (element as HTMLCanvasElement).toDataURL())).not.toBe(before);
    app.bus.publish('run.step', { runId: 'another run', step: 39, at: Date.now(), metrics: {} });
    app.bus.publish('run.evaluation', {
      runId: RUN_ID,
      evaluation: { ...seedEvaluation(28, 'validation', Date.now()), pass1: 0.8125 },
    });
    await page.getByTestId('chart-score').getByText('81.3 %').first().waitFor();
    expect(await page.getByTestId('run-step').textContent()).toBe(`step ${SEEDED_STEPS + 1} of 40`);
  });

  it('zooms all charts by dragging one, stops following, and resets', async () => {
    const pill = page.getByRole('button', { name: 'following' });
    expect(await pill.getAttribute('aria-pressed')).toBe('true');
    const box = (await page.getByTestId('chart-reward').locator('.u-over').boundingBox())!;
    await page.mouse.move(box.x + box.width * 0.3, box.y + 40);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.6, box.y + 60, { steps: 5 });
    await page.mouse.up();
    await page.getByRole('button', { name: 'Show all steps' }).waitFor();
    expect(await page.getByRole('button', { name: 'follow', exact: true }).getAttribute('aria-pressed')).toBe('false');
    await page.keyboard.press('0');
    await pill.waitFor();
    expect(await page.getByRole('button', { name: 'Show all steps' }).count()).toBe(0);
  });

  it('gives every chart as a table', async () => {
    for (const id of ['reward', 'score', 'calls', 'blocked']) {
      const chart = page.getByTestId(`chart-${id}`);
      await chart.getByRole('button', { name: /as a table/ }).click();
      expect(await chart.locator('tbody tr').count()).toBeGreaterThan(5);
      await chart.getByRole('button', { name: /as a chart/ }).click();
      await chart.locator('canvas').waitFor();
    }
    await page
      .getByTestId('chart-reward')
      .getByRole('button', { name: /as a table/ })
      .click();
    expect(await page.getByTestId('chart-reward').locator('tbody tr').first().textContent()).toContain('0.99');
    await page
      .getByTestId('chart-reward')
      .getByRole('button', { name: /as a chart/ })
      .click();
  });

  it('swaps an adapter in, and rolls back, through the registry', async () => {
    await show('#/adapters');
    await page.getByRole('button', { name: 'Swap in… data-questions-20' }).click();
    await page.getByRole('dialog').getByLabel('pi').check();
    await page.getByRole('button', { name: 'Swap now' }).click();
    await page.getByTestId('serving-pi').getByText('data-questions-20').waitFor();
    const [deployment] = app.store.deployment.list({ where: { harness: 'pi' } });
    expect(deployment).toMatchObject({ adapterId: 'adapter_20', previousId: null });
    expect(app.reloads()).toBe(1);
    await page.screenshot({ path: join(SHOTS, 'adapters.png') });
    await page.getByRole('button', { name: 'Roll back: pi' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Roll back' }).click();
    await page.getByTestId('serving-pi').getByText('Base model', { exact: true }).waitFor();
    expect(app.store.deployment.list({ where: { harness: 'pi' } })[0]).toMatchObject({
      adapterId: null,
      previousId: deployment!.id,
    });
  });

  it('gives the focus back after a dialog, which Escape closes', async () => {
    const button = page.getByRole('button', { name: 'Swap in… data-questions-10' });
    await button.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await button.evaluate((element) => element === document.activeElement)).toBe(true);
  });

  it('says that the connection is lost and comes back by itself', async () => {
    await app.restart(async () => {
      await page.getByText('Connection lost, trying again…').waitFor();
      app.store.adapter.put({ ...app.store.adapter.get('adapter_10')!, id: 'adapter_new', name: 'made-while-away' });
    });
    await page.getByText('Connected', { exact: true }).waitFor();
    await page.getByText('made-while-away').waitFor();
    // The browser itself reports the refused connections of this test.
    complaints.splice(
      0,
      complaints.length,
      ...complaints.filter((text) => !/net::ERR_|WebSocket connection/.test(text)),
    );
  });

  it.each(['dark', 'light'] as const)('is accessible on every screen in the %s theme', async (colorScheme) => {
    await page.emulateMedia({ colorScheme });
    const screens = {
      home: '#/',
      sessions: '#/sessions',
      session: `#/sessions/${sessionId}`,
      runs: '#/runs',
      run: `#/runs/${RUN_ID}`,
      adapters: '#/adapters',
    };
    for (const [name, hash] of Object.entries(screens)) {
      await show(hash);
      await page.locator('h1').waitFor();
      await expect.poll(() => page.getByText('Reading…').count()).toBe(0);
      expect(await accessibilityProblems(page), name).toEqual([]);
      await page.screenshot({ path: join(SHOTS, `${name}-${colorScheme}.png`) });
    }
  });

  it('stops a run after asking', async () => {
    await show(`#/runs/${RUN_ID}`);
    await page.getByRole('button', { name: 'Stop run' }).click();
    expect(app.stopped).toEqual([]);
    await page.getByRole('dialog').getByRole('button', { name: 'Stop run' }).click();
    await page.getByText('stopped', { exact: true }).waitFor();
    expect(app.stopped).toEqual([RUN_ID]);
    expect(await page.getByRole('button', { name: 'Stop run' }).count()).toBe(0);
  });

  it('lists its keys, and left no complaint in the console', async () => {
    await page.keyboard.press('?');
    await page.getByRole('dialog').getByText('Next blocked call').waitFor();
    await page.keyboard.press('Escape');
    expect(complaints).toEqual([]);
  });
});
