/** The Connect screen in a real browser, with a real gateway, the settings of a user who has all three agents, and a model server. */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { keepPort } from '../../main/services/gateway-port.js';
import { RefusalLog } from '../../main/services/refusals.js';
import { Vault } from '../../main/vault/vault.js';
import { EventBus } from '../../main/window/event-bus.js';
import { startWindowServer, type WindowServer } from '../../main/window/server.js';
import { createWindowServices } from '../../main/window/services.js';
import { EXISTING, MAIN_FILE } from '../harness/connect-support.js';
import { http, type Rig, startRig } from '../proxy/support.js';
import { connectSources } from '../window/connect-sources.js';
import { absent } from '../window/support.js';
import { accessibilityProblems } from './accessibility.js';
import { chromiumPath, launchBrowser, NO_CHROMIUM } from './browser.js';
import { buildRenderer } from './window-app.js';

const SHOTS = fileURLToPath(new URL('../../build/screenshots', import.meta.url));
const TOKEN = 'connect-e2e-0123456789-0123456789-012345';

describe.skipIf(!chromiumPath())(`connecting in the window${chromiumPath() ? '' : `: ${NO_CHROMIUM}`}`, () => {
  let rig: Rig;
  let window: WindowServer;
  let models: Server;
  let modelsUrl: string;
  let keysSeen: (string | undefined)[];
  let browser: Browser;
  let page: Page;
  let user: string;
  const complaints: string[] = [];
  const shot = (name: string): Promise<unknown> =>
    page.screenshot({ path: join(SHOTS, `connect-${name}.png`), fullPage: true });
  const panel = (name: string): Locator => page.getByRole('region', { name, exact: true });
  const read = (file: string): string => readFileSync(join(user, file), 'utf8');

  beforeAll(async () => {
    mkdirSync(SHOTS, { recursive: true });
    rig = await startRig();
    keepPort(rig.home, rig.port);
    const sources = connectSources(rig.home);
    user = sources.root!;
    for (const files of Object.values(EXISTING))
      for (const [name, text] of Object.entries(files)) {
        mkdirSync(join(user, name, '..'), { recursive: true });
        writeFileSync(join(user, name), text);
      }
    mkdirSync(join(user, '.local/bin'), { recursive: true });
    writeFileSync(join(user, '.local/bin/pi'), '#!/bin/sh\necho 1.6.0\n', { mode: 0o755 });
    const staticDir = join(rig.home, 'renderer');
    await buildRenderer(staticDir);
    const bus = new EventBus();
    const refusals = new RefusalLog(rig.home, 'window', [TOKEN]);
    window = await startWindowServer({
      port: 0,
      token: TOKEN,
      bus,
      staticDir,
      onRefused: (request, why) => refusals.add(request, why),
      services: createWindowServices({
        store: rig.store,
        bus,
        connect: { ...sources, reloadRoutes: () => rig.call('routes.reload') },
        gateway: absent,
        engine: absent,
        transcript: () => undefined,
        swap: () => Promise.reject(new Error('not part of this test')),
        rollback: () => Promise.reject(new Error('not part of this test')),
        stopRun: () => Promise.resolve(),
      }),
    });
    keysSeen = [];
    models = createServer((request, response) => {
      keysSeen.push(request.headers.authorization);
      request.resume().once('end', () => {
        response.setHeader('content-type', 'application/json');
        const message = { role: 'assistant', content: 'Hi.' };
        const answer = { object: 'chat.completion', choices: [{ index: 0, message, finish_reason: 'stop' }] };
        const list = { data: [{ id: 'big-1', max_model_len: 131_072 }] };
        response.end(
          JSON.stringify(request.method === 'GET' ? list : { id: 'x', created: 1, model: 'big-1', ...answer }),
        );
      });
    });
    await new Promise<void>((resolve) => models.listen(0, '127.0.0.1', resolve));
    modelsUrl = `http://127.0.0.1:${(models.address() as AddressInfo).port}/v1`;
    browser = await launchBrowser();
    page = await browser.newPage({ viewport: { width: 1320, height: 860 }, colorScheme: 'dark' });
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(error.message));
    await page.goto(window.url);
    await page.getByRole('link', { name: 'Connect' }).click();
  });
  afterAll(async () => {
    await browser?.close();
    await window?.close();
    models?.close();
    await rig?.close();
  });

  it('shows each agent, where its settings lie and what it is connected to', async () => {
    await panel('pi').getByText('not connected').waitFor();
    await panel('pi')
      .getByText(`1.6.0, ${join(user, '.local/bin/pi')}`)
      .waitFor();
    for (const name of ['pi', 'opencode', 'hermes'] as const)
      await panel(name).getByText(join(user, MAIN_FILE[name]), { exact: true }).waitFor();
    await panel('hermes').getByText('--print-env').waitFor();
    await shot('none');
    expect(await accessibilityProblems(page)).toEqual([]);
  });

  it('shows the change, makes it, and sees a test call arrive', async () => {
    await panel('pi').getByRole('button', { name: 'Connect: pi' }).click();
    const dialog = page.getByRole('dialog');
    const diff = dialog.getByRole('region');
    await diff.waitFor();
    const text = await diff.textContent();
    expect(text).toContain('tackroom');
    expect(text).not.toContain(rig.token);
    expect(read(MAIN_FILE.pi)).toBe(EXISTING.pi[MAIN_FILE.pi]);
    await shot('diff');
    expect(await accessibilityProblems(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Connect', exact: true }).click();
    await dialog.getByText('A test call arrived').waitFor();
    await shot('arrived');
    await dialog.getByRole('button', { name: 'Close' }).click();
    await panel('pi').getByText(`It reaches the gateway at port ${rig.port}.`).waitFor();
    expect(read('.pi/agent/models.json')).toContain(rig.token);
    expect(rig.store.session.list({ where: { harness: 'pi' } })).toHaveLength(1);
  });

  it('makes no other change than the one it showed', async () => {
    await panel('opencode').getByRole('button', { name: 'Connect: opencode' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('region').waitFor();
    const edited = `${read(MAIN_FILE.opencode)}// later\n`;
    writeFileSync(join(user, MAIN_FILE.opencode), edited);
    await dialog.getByRole('button', { name: 'Connect', exact: true }).click();
    await page.getByText('were changed since they were shown').waitFor();
    expect(read(MAIN_FILE.opencode)).toBe(edited);
    await page.getByRole('button', { name: 'Close' }).click();
  });

  it('gives an agent another server, with a key that it never shows', async () => {
    const key = `sk-${randomBytes(16).toString('hex')}`;
    await panel('pi').getByRole('button', { name: 'Change server: pi' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Another server').check();
    await dialog.getByLabel('Address').fill(modelsUrl);
    await dialog.getByLabel('API').selectOption('chat');
    await dialog.getByLabel('Key').fill(key);
    await shot('server');
    expect(await accessibilityProblems(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Save' }).click();
    await panel('pi').getByText(`${modelsUrl}, key in the vault`).waitFor();
    await panel('pi').getByText('demo, 131,072 tokens').waitFor();
    await panel('pi').getByRole('button', { name: 'Send a test call: pi' }).click();
    await panel('pi').getByText('A test call arrived').waitFor();
    expect(new Set(keysSeen)).toEqual(new Set([`Bearer ${key}`]));
    expect(new Vault(rig.home).list()).toEqual([expect.stringMatching(/^upstream\/pi\//)]);
    await panel('pi').getByRole('button', { name: 'Change server: pi' }).click();
    expect(await dialog.getByLabel('Key').inputValue()).toBe('');
    expect(await page.content()).not.toContain(key);
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await page.getByText('the key is a file beside the vault').waitFor();
  });

  it('explains a conflict, changes nothing, and disconnects when it is solved', async () => {
    const settings = '.pi/agent/settings.json';
    const ours = read(settings);
    writeFileSync(join(user, settings), ours.replace('"dark"', '"dark","enabledModels":["tackroom/demo"]'));
    const edited = read(settings);
    await panel('pi').getByRole('button', { name: 'Disconnect: pi' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('it would point at nothing').waitFor();
    await shot('conflict');
    expect(await dialog.getByRole('button', { name: 'Disconnect' }).count()).toBe(0);
    await dialog.getByRole('button', { name: 'Close' }).click();
    expect(read(settings)).toBe(edited);
    writeFileSync(join(user, settings), ours);
    await panel('pi').getByRole('button', { name: 'Disconnect: pi' }).click();
    await dialog.getByRole('button', { name: 'Disconnect', exact: true }).click();
    await panel('pi').getByText('not connected').waitFor();
    expect(read(settings)).toBe(EXISTING.pi[settings]);
  });

  it('starts the gateway at login when it is told to, and names who was turned away', async () => {
    const entry = join(user, '.config/autostart/tackroom-gateway.desktop');
    const login = page.getByRole('switch', { name: 'Start the gateway when I log in' });
    await login.click();
    await page.getByText(`Noted in ${entry}`).waitFor();
    expect(existsSync(entry)).toBe(true);
    await http({ port: rig.port }, 'POST', '/pi/v1/chat/completions', '{}', { origin: 'https://<b>evil.example' });
    await page.reload();
    await page.getByText('1 in the last day.').waitFor();
    await page.getByText('https://<b>evil.example').waitFor();
    await page.emulateMedia({ colorScheme: 'light' });
    await page.setViewportSize({ width: 1320, height: 1250 });
    await shot('light');
    expect(await accessibilityProblems(page)).toEqual([]);
    await login.click();
    await page.getByText(`Noted in ${entry}`).waitFor({ state: 'detached' });
    expect(existsSync(entry)).toBe(false);
    expect(complaints).toEqual([]);
  });
});
