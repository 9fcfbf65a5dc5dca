/** The app as a login item, without a window: by the system's own list where Electron knows it, else by a file of ours. */
import { app } from 'electron';
import { fileLoginItem, type LoginItem } from '../services/login-item.js';

export const GATEWAY_ONLY = '--gateway-only';

const ASKED = { args: [GATEWAY_ONLY] };

const systemItem: LoginItem = {
  place: null,
  isOn: () => app.getLoginItemSettings(ASKED).openAtLogin,
  set: (on) => app.setLoginItemSettings({ ...ASKED, openAtLogin: on }),
};

/** Electron has it for macOS and Windows. An AppImage names the file that was started. */
export const appLoginItem = (platform: NodeJS.Platform = process.platform): LoginItem | null =>
  platform === 'darwin' || platform === 'win32'
    ? systemItem
    : fileLoginItem([process.env.APPIMAGE ?? process.execPath, GATEWAY_ONLY]);

/** macOS passes no arguments on to what it starts at login. */
export const startedAlone = (argv: readonly string[] = process.argv): boolean =>
  argv.includes(GATEWAY_ONLY) || app.getLoginItemSettings(ASKED).wasOpenedAtLogin === true;
