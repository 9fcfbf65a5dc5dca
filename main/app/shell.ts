/** The life of the desktop app: one instance, services first, then the window; everything stops when the app quits. */
import { join } from 'node:path';
import { app, type BrowserWindow, dialog, session } from 'electron';
import type { WindowServices } from '../../contract/api.js';
import { toErrorShape } from '../../contract/errors.js';
import { packageRoot } from '../../native/addon.js';
import type { EventBus } from '../window/event-bus.js';
import { forwardEvents, serveCalls } from './ipc.js';
import { confineAllPages, denyPermissions } from './lockdown.js';
import { installMenu } from './menu.js';
import { askOnQuit, type Connected } from './quit.js';
import { registerScheme, serveScheme } from './scheme.js';
import { installTray } from './tray.js';
import { focusWindow, openWindow } from './window.js';

/** What the window talks to. */
export interface Backend {
  services: WindowServices;
  bus: EventBus;
  connected: Connected;
  stop(): Promise<void>;
}

export interface ShellOptions {
  startBackend(): Promise<Backend>;
  /** Folder of the built renderer. */
  rendererDir: string;
  /** Started at login: no window before somebody asks for it. */
  hidden?: boolean;
}

const preloadFile = (): string => join(packageRoot(), 'dist', 'main', 'app', 'preload.cjs');

/** Stops the backend before the app goes; a second quit meanwhile waits for the same stop. */
function stopOnQuit(backend: Backend): void {
  let stopping: Promise<void> | undefined;
  app.on('will-quit', (event) => {
    if (stopping) return;
    event.preventDefault();
    stopping = backend.stop().finally(() => app.exit(0));
  });
}

/** Runs the app. Resolves when the first window is open, or at once when another instance is running. */
export async function runShell(options: ShellOptions): Promise<void> {
  if (!app.requestSingleInstanceLock()) {
    app.quit();
    return;
  }
  registerScheme();
  app.enableSandbox();
  confineAllPages(app);
  await app.whenReady();
  denyPermissions(session.defaultSession);
  serveScheme(session.defaultSession, options.rendererDir);

  let backend: Backend;
  try {
    backend = await options.startBackend();
  } catch (error) {
    const { message, code, hint } = toErrorShape(error);
    dialog.showErrorBox('Tackroom could not start', `${message} (${code})${hint ? `\n\n${hint}` : ''}`);
    app.exit(1);
    return;
  }
  askOnQuit(backend.connected);
  stopOnQuit(backend);
  serveCalls(backend.services);
  installMenu();

  let window: BrowserWindow | undefined;
  const open = async (): Promise<void> => {
    if (window && !window.isDestroyed()) return focusWindow(window);
    window = await openWindow(preloadFile(), (created) => forwardEvents(backend.bus, created.webContents));
  };
  const show = (): void => void open();
  const tray = installTray(show);
  app.on('second-instance', show);
  app.on('activate', show);
  app.on('window-all-closed', () => {
    if (!tray && process.platform !== 'darwin') app.quit();
  });
  // Without a tray nothing else would show that it runs.
  if (!options.hidden || !tray) await open();
}
