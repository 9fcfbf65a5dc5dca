/**
 * What no page in this app may do, whatever it contains: leave its origin, open windows or frames, hold permissions,
 * reach devices, download. Electron grants most of these unless they are refused (its security guide, items 5, 13, 14).
 */
import type { App, Session, WebContents } from 'electron';
import { APP_ORIGIN } from './channels.js';

/** True for addresses of the app's own pages. `URL.origin` is "null" for custom schemes, so the parts are compared. */
export function isAppUrl(url: string): boolean {
  try {
    const { protocol, host, username, password } = new URL(url);
    return `${protocol}//${host}` === APP_ORIGIN && username === '' && password === '';
  } catch {
    return false;
  }
}

function confine(contents: WebContents): void {
  const stayHome = (event: { preventDefault(): void; url: string }): void => {
    if (!isAppUrl(event.url)) event.preventDefault();
  };
  contents.on('will-navigate', stayHome);
  contents.on('will-redirect', stayHome);
  contents.on('will-frame-navigate', stayHome);
  contents.on('will-attach-webview', (event) => event.preventDefault());
  contents.setWindowOpenHandler(() => ({ action: 'deny' }));
}

/** Call before the app is ready: every page made later is confined. */
export function confineAllPages(app: App): void {
  app.on('web-contents-created', (_event, contents) => confine(contents));
}

/** Call once the app is ready, before any window. */
export function denyPermissions(session: Session): void {
  session.setPermissionRequestHandler((_contents, _permission, answer) => answer(false));
  session.setPermissionCheckHandler(() => false);
  session.setDevicePermissionHandler(() => false);
  session.on('will-download', (event) => event.preventDefault());
}
