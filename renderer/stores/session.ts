import { create } from 'zustand';
import { MAX_PAGE } from '../../contract/api.js';
import { type ErrorShape, toErrorShape } from '../../contract/errors.js';
import type { EventMessage } from '../../contract/events.js';
import type { Session } from '../../contract/records.js';
import type { TranscriptStep } from '../../contract/transcript.js';
import { ask } from '../bridge/client.js';
import { throttle } from '../logic/throttle.js';

interface OpenSession {
  id: string | null;
  session: Session | null;
  steps: TranscriptStep[];
  totalSteps: number;
  error: ErrorShape | null;
  /** All long texts shown whole. */
  expanded: boolean;
  open(id: string): Promise<void>;
  more(): Promise<void>;
  toggleExpanded(): void;
}

/** The one session that is on screen. */
export const useSession = create<OpenSession>()((set, get) => ({
  id: null,
  session: null,
  steps: [],
  totalSteps: 0,
  error: null,
  expanded: false,
  async open(id) {
    if (get().id !== id) set({ id, session: null, steps: [], totalSteps: 0, error: null, expanded: false });
    await read(id, 0, Math.max(get().steps.length, 1));
  },
  async more() {
    const { id, steps } = get();
    if (id !== null) await read(id, steps.length, steps.length + 1);
  },
  toggleExpanded: () => set(({ expanded }) => ({ expanded: !expanded })),
}));

/** Reads steps `from` up to at least `to` and puts them in place. */
async function read(id: string, from: number, to: number): Promise<void> {
  try {
    for (let offset = from; offset < to; offset += MAX_PAGE) {
      const page = await ask('sessions.get', { id, offset, limit: MAX_PAGE });
      if (useSession.getState().id !== id) return;
      useSession.setState(({ steps }) => ({
        session: page.session,
        totalSteps: page.totalSteps,
        steps: [...steps.slice(0, offset), ...page.steps, ...steps.slice(offset + page.steps.length, page.totalSteps)],
        error: null,
      }));
    }
  } catch (error) {
    if (useSession.getState().id === id) useSession.setState({ error: toErrorShape(error) });
  }
}

const REFRESH_MS = 700;
const refresh = throttle(REFRESH_MS, () => {
  const { id, steps, totalSteps } = useSession.getState();
  // Steps are only ever added at the end, except that the last ones gain results: a session shown whole is read to its new end.
  if (id !== null)
    void read(id, Math.max(0, steps.length - 10), steps.length === totalSteps ? steps.length + 1 : steps.length);
});

export function onSessionEvent(message: EventMessage): void {
  const { id } = useSession.getState();
  if (id === null) return;
  if (message.event === 'window.resync' || (message.event === 'session.recorded' && message.data.sessionId === id))
    refresh();
}
