import { create } from 'zustand';
import type { ConnectionState } from '../bridge/socket-bridge.js';

interface Connection {
  state: ConnectionState;
  set(state: ConnectionState): void;
}

/** State of the line to the app. Inside Electron it is always open. */
export const useConnection = create<Connection>()((set) => ({
  state: 'connecting',
  set: (state) => set({ state }),
}));
