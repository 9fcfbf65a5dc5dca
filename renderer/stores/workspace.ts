import { create } from 'zustand';
import { type ErrorShape, toErrorShape } from '../../contract/errors.js';
import type { EventMessage } from '../../contract/events.js';
import type { WorkspaceState } from '../../contract/workspace-calls.js';
import { ask } from '../bridge/client.js';
import { throttle } from '../logic/throttle.js';

interface OpenWorkspace {
  /** Of the session. */
  id: string | null;
  /** null until it is read. */
  state: WorkspaceState | null;
  error: ErrorShape | null;
  open(id: string): Promise<void>;
}

/** The working directory of the one session that is on screen. */
export const useWorkspace = create<OpenWorkspace>()((set, get) => ({
  id: null,
  state: null,
  error: null,
  async open(id) {
    if (get().id !== id) set({ id, state: null, error: null });
    try {
      const state = await ask('sessions.workspace', { id });
      if (get().id === id) set({ state, error: null });
    } catch (error) {
      if (get().id === id) set({ error: toErrorShape(error) });
    }
  },
}));

const REFRESH_MS = 700;
const refresh = throttle(REFRESH_MS, () => {
  const { id, open } = useWorkspace.getState();
  if (id !== null) void open(id);
});

/** What was captured once stays as it is; until then it may still come. */
export function onWorkspaceEvent(message: EventMessage): void {
  const { id, state } = useWorkspace.getState();
  if (id === null || state?.captured) return;
  if (message.event === 'window.resync' || (message.event === 'session.recorded' && message.data.sessionId === id))
    refresh();
}
