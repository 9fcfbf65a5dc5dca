/** The tray icon: while it is there, closing the window leaves the gateway serving the user's agents. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { app, Menu, nativeImage, Tray } from 'electron';
import { packageRoot } from '../../native/addon.js';

const iconFile = (): string => join(packageRoot(), 'resources', 'icons', 'tray.png');

/** Null where there is no icon to show: then closing the window ends the app. */
export function installTray(open: () => void): Tray | null {
  const file = iconFile();
  if (!existsSync(file)) return null;
  const image = nativeImage.createFromPath(file);
  if (image.isEmpty()) return null;
  const tray = new Tray(image);
  tray.setToolTip('Tackroom');
  tray.setContextMenu(
    Menu.buildFromTemplate([
      { label: 'Open Tackroom', click: open },
      { type: 'separator' },
      { label: 'Quit', click: () => app.quit() },
    ]),
  );
  tray.on('click', open);
  return tray;
}
