import { create } from 'zustand';
import type { CallInput } from '../../contract/api.js';
import type { CleanState, DecisionView } from '../../contract/clean-calls.js';
import { type ErrorShape, toErrorShape } from '../../contract/errors.js';
import type { EventMessage } from '../../contract/events.js';
import type { Session } from '../../contract/records.js';
import { ask } from '../bridge/client.js';
import { whileBusy } from './busy.js';
import { useCleanPage } from './clean-page.js';

type Ready = Extract<CleanState, { state: 'ready' }>;
type Working = Extract<CleanState, { state: 'working' }>;

interface Clean {
  id: string | null;
  session: Session | null;
  ready: Ready | null;
  /** It is looked at now; what is on screen is of before. */
  working: Working | null;
  decisions: DecisionView[];
  /** Requests came since it was looked at. */
  grown: boolean;
  error: ErrorShape | null;
  busy: boolean;
  open(id: string): Promise<void>;
  cancel(): Promise<void>;
  /** These: true when it was done. */
  decide(what: Decide): Promise<boolean>;
  undo(decision: string): Promise<boolean>;
  forget(): Promise<boolean>;
}
type OfOneSession<T> = T extends { id: string } ? Omit<T, 'id'> : never;
export type Decide = OfOneSession<CallInput<'clean.decide'>>;

const POLL_MS = 300;
const nothing = { session: null, ready: null, working: null, decisions: [], grown: false, error: null };
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** The one session whose cleaned copy is on screen. */
export const useClean = create<Clean>()((set, get) => {
  const change = (work: () => Promise<unknown>): Promise<boolean> =>
    whileBusy(set, async () => {
      await work();
      const { id } = get();
      if (id !== null) await get().open(id);
    });
  return {
    id: null,
    ...nothing,
    busy: false,
    async open(id) {
      if (get().id !== id) {
        set({ id, ...nothing });
        useCleanPage.getState().clear();
      }
      const here = (): boolean => get().id === id;
      try {
        const [{ session }, first] = await Promise.all([
          ask('sessions.get', { id, limit: 1 }),
          ask('clean.open', { id }),
        ]);
        let state: CleanState = first;
        if (here()) set({ session, error: null, grown: false });
        while (state.state === 'working' && here()) {
          set({ working: state });
          await pause(POLL_MS);
          state = await ask('clean.state', { id });
        }
        if (!here()) return;
        if (state.state === 'failed') set({ error: state.error as ErrorShape, working: null, ready: null });
        else if (state.state === 'ready') {
          await useCleanPage.getState().load(id);
          const { decisions } = await ask('clean.decisions', { id });
          if (here()) set({ ready: state, working: null, decisions });
        }
      } catch (error) {
        if (here()) set({ error: toErrorShape(error), working: null });
      }
    },
    async cancel() {
      const { id } = get();
      if (id !== null) await ask('clean.cancel', { id }).catch(() => undefined);
    },
    decide: (what) =>
      change(async () => {
        const { id } = get();
        if (id !== null) await ask('clean.decide', { ...what, id } as CallInput<'clean.decide'>);
      }),
    undo: (decision) => change(() => ask('clean.undo', { id: decision })),
    forget: () =>
      change(async () => {
        const { id } = get();
        await ask('clean.forget', { id: id ?? undefined });
        await ask('clean.forget', {});
      }),
  };
});

export function onCleanEvent(message: EventMessage): void {
  const { id, ready } = useClean.getState();
  if (id !== null && ready && message.event === 'session.recorded' && message.data.sessionId === id)
    useClean.setState({ grown: true });
}
