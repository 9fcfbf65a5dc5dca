/** The application menu: what a desktop expects and nothing that reloads or leaves the page in a packaged app. */
import { app, Menu, type MenuItemConstructorOptions } from 'electron';

export function menuTemplate(packaged: boolean, platform: NodeJS.Platform): MenuItemConstructorOptions[] {
  const appMenu: MenuItemConstructorOptions[] = platform === 'darwin' ? [{ role: 'appMenu' }] : [];
  const file: MenuItemConstructorOptions = {
    label: 'File',
    submenu: [platform === 'darwin' ? { role: 'close' } : { role: 'quit' }],
  };
  const developer: MenuItemConstructorOptions[] = packaged
    ? []
    : [{ type: 'separator' }, { role: 'reload' }, { role: 'toggleDevTools' }];
  const view: MenuItemConstructorOptions = {
    label: 'View',
    submenu: [
      { role: 'resetZoom' },
      { role: 'zoomIn' },
      { role: 'zoomOut' },
      { type: 'separator' },
      { role: 'togglefullscreen' },
      ...developer,
    ],
  };
  return [...appMenu, file, { role: 'editMenu' }, view, { role: 'windowMenu' }];
}

export function installMenu(): void {
  Menu.setApplicationMenu(Menu.buildFromTemplate(menuTemplate(app.isPackaged, process.platform)));
}
