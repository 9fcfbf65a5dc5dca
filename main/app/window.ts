/** The app's window: sandboxed, isolated, nothing but the app's own origin in it. */
import { app, BrowserWindow, type BrowserWindowConstructorOptions, nativeTheme } from 'electron';
import { APP_ORIGIN } from './channels.js';

/** Background until the page paints, so that a dark system never flashes white. */
const BACKGROUND = { dark: '#131416', light: '#fbfbfa' };

/** Options of every window; `preload` is the absolute path of the bundled preload script. */
export function windowOptions(preload: string): BrowserWindowConstructorOptions {
  return {
    width: 1280,
    height: 820,
    minWidth: 880,
    minHeight: 560,
    show: false,
    title: 'Tackroom',
    backgroundColor: nativeTheme.shouldUseDarkColors ? BACKGROUND.dark : BACKGROUND.light,
    webPreferences: {
      preload,
      contextIsolation: true,
      sandbox: true,
      nodeIntegration: false,
      nodeIntegrationInWorker: false,
      nodeIntegrationInSubFrames: false,
      webviewTag: false,
      navigateOnDragDrop: false,
      spellcheck: false,
      devTools: !app.isPackaged,
    },
  };
}

/** Opens the window and shows it when it has painted; `onCreated` runs before its page loads. */
export async function openWindow(preload: string, onCreated: (window: BrowserWindow) => void): Promise<BrowserWindow> {
  const window = new BrowserWindow(windowOptions(preload));
  onCreated(window);
  window.once('ready-to-show', () => window.show());
  await window.loadURL(`${APP_ORIGIN}/`);
  return window;
}

/** Brings a window to the front. */
export function focusWindow(window: BrowserWindow): void {
  if (window.isMinimized()) window.restore();
  window.show();
  window.focus();
}
