import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { WindowServices } from '../../contract/api.js';
import { TackroomError } from '../../contract/errors.js';
import { APP_ORIGIN, CALL_CHANNEL, EVENT_CHANNEL } from '../../main/app/channels.js';
import { systemKeychain } from '../../main/app/keychain.js';
import { appLoginItem, startedAlone } from '../../main/app/login-item.js';
import { menuTemplate } from '../../main/app/menu.js';
import { type Backend, runShell } from '../../main/app/shell.js';
import { EventBus } from '../../main/window/event-bus.js';
import {
  app,
  BrowserWindow,
  contextBridge,
  dialog,
  ipcMain,
  ipcRenderer,
  powerMonitor,
  protocol,
  safeStorage,
  session,
} from '../stubs/electron.js';

const base = mkdtempSync(join(tmpdir(), 'tackroom-shell-'));
const root = join(base, 'renderer');
const connected = { names: (): string[] => connectedNames, disconnect: vi.fn(async (_name: string) => undefined) };
let connectedNames: string[] = [];
const stopped = vi.fn(async () => undefined);
const backend = (): Backend => ({ services: {} as WindowServices, bus: new EventBus(), connected, stop: stopped });
const run = (startBackend: () => Promise<Backend>) => runShell({ startBackend, rendererDir: root });

beforeAll(() => {
  mkdirSync(join(root, 'assets'), { recursive: true });
  writeFileSync(join(root, 'index.html'), '<!doctype html><title>Tackroom</title>');
  writeFileSync(join(root, 'assets', 'app.js'), '1');
  writeFileSync(join(base, 'outside.js'), 'secret');
});
afterAll(() => rmSync(base, { recursive: true, force: true }));
beforeEach(() => {
  app.removeAllListeners();
  session.defaultSession.removeAllListeners();
  ipcMain.handlers.clear();
  powerMonitor.removeAllListeners();
  dialog.asked.length = 0;
  connectedNames = [];
  connected.disconnect.mockClear();
  BrowserWindow.made.length = 0;
  Object.assign(app, { hasLock: true, quits: 0, exitCode: undefined, sandboxed: false });
});

describe('starting', () => {
  it("opens one sandboxed, isolated window on the app's origin", async () => {
    await run(async () => backend());
    expect(app.sandboxed).toBe(true);
    const [window] = BrowserWindow.made;
    expect(window?.options.webPreferences).toMatchObject({
      contextIsolation: true,
      sandbox: true,
      nodeIntegration: false,
      nodeIntegrationInWorker: false,
      nodeIntegrationInSubFrames: false,
      webviewTag: false,
      devTools: false,
      preload: expect.stringMatching(/dist[\\/]main[\\/]app[\\/]preload\.cjs$/),
    });
    const preferences = Object.keys(window?.options.webPreferences as object);
    for (const risky of ['webSecurity', 'allowRunningInsecureContent', 'experimentalFeatures', 'enableBlinkFeatures'])
      expect(preferences).not.toContain(risky);
    expect(window?.webContents.getURL()).toBe(`${APP_ORIGIN}/`);
    expect(window?.shown).toBe(1);
    expect(ipcMain.handlers.has(CALL_CHANNEL)).toBe(true);
    expect(protocol.registered[0]).toMatchObject({ scheme: 'app', privileges: { standard: true, secure: true } });
    expect(protocol.registered[0]?.privileges).not.toHaveProperty('bypassCSP');
  });

  it('leaves at once when another instance runs, and shows the window when it is the first', async () => {
    app.hasLock = false;
    const start = vi.fn(async () => backend());
    await run(start);
    expect(app.quits).toBe(1);
    expect(start).not.toHaveBeenCalled();
    app.hasLock = true;
    await run(start);
    app.emit('second-instance');
    expect(BrowserWindow.made).toHaveLength(1);
    expect(BrowserWindow.made[0]?.shown).toBe(2);
  });

  it('says in one sentence why the services do not start', async () => {
    await run(async () => {
      throw new TackroomError('ADDON_MISSING', 'The native engine is not built.', 'Run: npm run setup');
    });
    expect(dialog.errors.at(-1)?.text).toBe('The native engine is not built. (ADDON_MISSING)\n\nRun: npm run setup');
    expect(app.exitCode).toBe(1);
    expect(BrowserWindow.made).toHaveLength(0);
  });

  it('stops the services once before it quits', async () => {
    stopped.mockClear();
    await run(async () => backend());
    const event = { preventDefault: vi.fn() };
    app.emit('will-quit', event);
    app.emit('will-quit', event);
    await vi.waitFor(() => expect(app.exitCode).toBe(0));
    expect(stopped).toHaveBeenCalledTimes(1);
    expect(event.preventDefault).toHaveBeenCalledTimes(1);
  });
});

describe('quitting', () => {
  const [DISCONNECT, QUIT, CANCEL] = [0, 1, 2];
  /** As Electron does: `quit` comes as an event that may be held up. */
  const quit = (): boolean => {
    const event = { preventDefault: vi.fn() };
    app.emit('before-quit', event);
    return event.preventDefault.mock.calls.length === 0;
  };
  const press = async (button: number): Promise<void> => {
    dialog.press = button;
    expect(quit()).toBe(false);
    // A second one meanwhile asks nothing again.
    expect(quit()).toBe(false);
    await vi.waitFor(() => expect(dialog.asked).toHaveLength(1));
    await new Promise((resolve) => setImmediate(resolve));
  };

  it('says who loses their model, and does what was chosen', async () => {
    connectedNames = ['pi', 'hermes'];
    await run(async () => backend());
    await press(CANCEL);
    expect(dialog.asked[0]).toMatchObject({
      message: expect.stringContaining('pi and hermes will have no model') as string,
    });
    expect([app.quits, connected.disconnect.mock.calls]).toEqual([0, []]);
    dialog.asked.length = 0;
    await press(DISCONNECT);
    await vi.waitFor(() => expect(app.quits).toBe(1));
    expect(connected.disconnect.mock.calls).toEqual([['pi'], ['hermes']]);
    expect(quit()).toBe(true);
  });

  it('leaves them connected when that was chosen', async () => {
    connectedNames = ['pi'];
    await run(async () => backend());
    await press(QUIT);
    await vi.waitFor(() => expect(app.quits).toBe(1));
    expect(connected.disconnect).not.toHaveBeenCalled();
  });

  it('stays, and says why, when one cannot be disconnected', async () => {
    connectedNames = ['pi', 'hermes'];
    connected.disconnect.mockRejectedValueOnce(new TackroomError('REFUSED', 'It was changed.', 'Change it back.'));
    await run(async () => backend());
    await press(DISCONNECT);
    await vi.waitFor(() => expect(dialog.errors.at(-1)?.text).toBe('It was changed.\nChange it back.'));
    expect(connected.disconnect).toHaveBeenCalledTimes(2);
    expect(app.quits).toBe(0);
  });

  it('asks nothing when nobody is connected', async () => {
    await run(async () => backend());
    quit();
    await vi.waitFor(() => expect(app.quits).toBe(1));
    expect([quit(), dialog.asked]).toEqual([true, []]);
  });

  it('does not hold up a session that ends', async () => {
    connectedNames = ['pi'];
    await run(async () => backend());
    powerMonitor.emit('shutdown');
    expect([quit(), dialog.asked]).toEqual([true, []]);
  });
});

describe('at login', () => {
  it('starts without a window, and opens one when it is asked for', async () => {
    await runShell({ startBackend: async () => backend(), rendererDir: root, hidden: true });
    expect(BrowserWindow.made).toHaveLength(0);
    app.emit('second-instance');
    await vi.waitFor(() => expect(BrowserWindow.made).toHaveLength(1));
  });

  it('is noted by the system where it can, else in a file', () => {
    const item = appLoginItem('darwin')!;
    expect(item.isOn()).toBe(false);
    item.set(true);
    expect([item.isOn(), app.loginItem]).toEqual([true, { openAtLogin: true, args: ['--gateway-only'] }]);
    item.set(false);
    expect(item.isOn()).toBe(false);
    expect(appLoginItem('linux')?.place).toMatch(/autostart/);
    expect([startedAlone(['app', '--gateway-only']), startedAlone(['app'])]).toEqual([true, false]);
  });
});

describe('the keychain', () => {
  it('is used where it hides something', () => {
    expect(systemKeychain.available()).toBe(true);
    expect(systemKeychain.open(systemKeychain.seal('key'))).toBe('key');
    safeStorage.works = false;
    expect(systemKeychain.available()).toBe(false);
    Object.assign(safeStorage, { works: true, backend: 'basic_text' });
    expect(systemKeychain.available()).toBe(process.platform !== 'linux');
  });
});

describe('confinement', () => {
  it.each(['will-navigate', 'will-redirect', 'will-frame-navigate'])("%s stays on the app's origin", async (name) => {
    await run(async () => backend());
    const contents = BrowserWindow.made[0]!.webContents;
    const tried = (url: string): number => {
      const event = { url, preventDefault: vi.fn() };
      contents.emit(name, event);
      return event.preventDefault.mock.calls.length;
    };
    for (const url of ['https://evil.example/', 'app://evil/', 'file:///etc/passwd', 'javascript:1', 'not a url'])
      expect(tried(url), url).toBe(1);
    expect(tried(`${APP_ORIGIN}/index.html`)).toBe(0);
  });

  it('denies new windows, webviews, permissions, devices and downloads', async () => {
    await run(async () => backend());
    const contents = BrowserWindow.made[0]!.webContents;
    expect(contents.openHandler?.({ url: `${APP_ORIGIN}/` })).toEqual({ action: 'deny' });
    const webview = { preventDefault: vi.fn() };
    contents.emit('will-attach-webview', webview);
    expect(webview.preventDefault).toHaveBeenCalled();
    const answers: boolean[] = [];
    session.defaultSession.permissionRequest?.(contents, 'media', (granted) => answers.push(granted));
    expect(answers).toEqual([false]);
    expect(session.defaultSession.permissionCheck?.()).toBe(false);
    expect(session.defaultSession.devicePermission?.()).toBe(false);
    const download = { preventDefault: vi.fn() };
    session.defaultSession.emit('will-download', download);
    expect(download.preventDefault).toHaveBeenCalled();
  });

  it('has no reload and no developer tools in a packaged menu', () => {
    const roles = (packaged: boolean) => JSON.stringify(menuTemplate(packaged, 'linux'));
    expect(roles(true)).not.toMatch(/reload|toggleDevTools/i);
    expect(roles(false)).toMatch(/toggleDevTools/);
  });
});

describe('app://', () => {
  const get = async (url: string, method = 'GET'): Promise<Response> => {
    await run(async () => backend());
    return session.defaultSession.schemes.get('app')!(new Request(url, { method }));
  };

  it('serves the renderer with a strict policy', async () => {
    const response = await get(`${APP_ORIGIN}/`);
    expect(response.status).toBe(200);
    expect(await response.text()).toContain('<title>Tackroom</title>');
    const policy = response.headers.get('content-security-policy') ?? '';
    expect(policy).toMatch(/default-src 'none'/);
    expect(policy).toMatch(/script-src 'self'(;|$)/);
    expect(policy).not.toMatch(/unsafe-eval|\*/);
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
  });

  it.each([
    [`${APP_ORIGIN}/../outside.js`, 404],
    [`${APP_ORIGIN}/%2e%2e/outside.js`, 404],
    [`${APP_ORIGIN}/..%2foutside.js`, 404],
    [`${APP_ORIGIN}/missing.js`, 404],
    ['app://evil/index.html', 403],
  ])('answers %s with %d', async (url, status) => {
    const response = await get(url);
    expect(response.status).toBe(status);
    expect(await response.text()).not.toContain('secret');
  });

  it('takes no other method', async () => {
    expect((await get(`${APP_ORIGIN}/`, 'POST')).status).toBe(405);
  });
});

describe('the preload script', () => {
  it('exposes two functions and nothing of ipcRenderer', async () => {
    await import('../../main/app/preload.js');
    const bridge = contextBridge.exposed.get('tackroom') as Record<string, (...args: unknown[]) => unknown>;
    expect(Object.keys(bridge).sort()).toEqual(['call', 'onEvent']);
    await bridge.call!('runs.list', {});
    expect(ipcRenderer.invoked.at(-1)).toEqual({ channel: CALL_CHANNEL, args: ['runs.list', {}] });
    const seen: unknown[][] = [];
    const off = bridge.onEvent!((...args: unknown[]) => seen.push(args)) as () => void;
    ipcRenderer.emit(EVENT_CHANNEL, { sender: 'secret' }, { event: 'window.resync', data: {} });
    off();
    ipcRenderer.emit(EVENT_CHANNEL, { sender: 'secret' }, { event: 'window.resync', data: {} });
    expect(seen).toEqual([[{ event: 'window.resync', data: {} }]]);
  });
});
