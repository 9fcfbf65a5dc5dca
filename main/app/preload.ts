/**
 * The one bridge between the sandboxed page and the app: `window.tackroom`, two functions. `ipcRenderer` itself and
 * the events' senders stay here. Bundled to CommonJS by scripts/build-preload.mjs, since a sandboxed preload script
 * can neither be an ES module nor load files.
 */
import { contextBridge, ipcRenderer } from 'electron';
import type { WindowBridge } from '../../contract/api.js';
import type { EventMessage } from '../../contract/events.js';
import { CALL_CHANNEL, EVENT_CHANNEL } from './channels.js';

const bridge: WindowBridge = {
  call: (name, input) => ipcRenderer.invoke(CALL_CHANNEL, String(name), input),
  onEvent(listener) {
    const forward = (_sender: unknown, message: EventMessage): void => listener(message);
    ipcRenderer.on(EVENT_CHANNEL, forward);
    return () => void ipcRenderer.off(EVENT_CHANNEL, forward);
  },
};

contextBridge.exposeInMainWorld('tackroom', bridge);
