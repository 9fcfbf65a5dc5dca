/** Before the app ends: says which harnesses lose their model, and offers to give them their own back. */
import { app, dialog, powerMonitor } from 'electron';
import { toErrorShape } from '../../contract/errors.js';

export interface Connected {
  /** Those whose settings call this gateway. */
  names(): string[];
  /** Errors: REFUSED on a conflict, BUSY. */
  disconnect(name: string): Promise<unknown>;
}

const BUTTONS = ['Disconnect and Quit', 'Quit', 'Cancel'];
const [DISCONNECT, , CANCEL] = [0, 1, 2];

async function disconnectAll(connected: Connected, names: readonly string[]): Promise<boolean> {
  const failed: string[] = [];
  for (const name of names)
    await connected.disconnect(name).catch((error: unknown) => {
      const { message, hint } = toErrorShape(error);
      failed.push(`${message}${hint ? `\n${hint}` : ''}`);
    });
  if (failed.length > 0) dialog.showErrorBox('Not everything was disconnected', failed.join('\n\n'));
  return failed.length === 0;
}

async function mayQuit(connected: Connected): Promise<boolean> {
  const names = connected.names();
  if (names.length === 0) return true;
  const { response } = await dialog.showMessageBox({
    type: 'question',
    message: `${names.join(' and ')} will have no model while Tackroom is not running.`,
    detail: 'Disconnected, each uses again what it used before.',
    buttons: BUTTONS,
    defaultId: DISCONNECT,
    cancelId: CANCEL,
  });
  if (response === CANCEL) return false;
  return response !== DISCONNECT || disconnectAll(connected, names);
}

/** Asks once a quit; a session that ends is not held up. */
export function askOnQuit(connected: Connected): void {
  let state: 'open' | 'asking' | 'decided' = 'open';
  powerMonitor.on('shutdown', () => {
    state = 'decided';
  });
  app.on('before-quit', (event) => {
    if (state === 'decided') return;
    event.preventDefault();
    if (state === 'asking') return;
    state = 'asking';
    void mayQuit(connected).then((quit) => {
      state = quit ? 'decided' : 'open';
      if (quit) app.quit();
    });
  });
}
