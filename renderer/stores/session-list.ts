import { create } from 'zustand';
import { type CallInput, MAX_PAGE } from '../../contract/api.js';
import { type ErrorShape, toErrorShape } from '../../contract/errors.js';
import type { EventMessage } from '../../contract/events.js';
import type { Session } from '../../contract/records.js';
import { ask } from '../bridge/client.js';
import { throttle } from '../logic/throttle.js';

export type SessionFilter = Pick<CallInput<'sessions.list'>, 'harness' | 'origin' | 'blockedOnly' | 'clean' | 'search'>;

interface SessionList {
  filter: SessionFilter;
  total: number | null;
  /** By page number; pages not seen yet are missing. */
  pages: Record<number, Session[]>;
  error: ErrorShape | null;
  setFilter(change: Partial<SessionFilter>): void;
  /** Reads the pages that hold rows `first` to `end`, unless they are here or on their way. */
  show(first: number, end: number): void;
  reload(): void;
}

const asked = new Set<number>();
let generation = 0;

export const useSessionList = create<SessionList>()((set, get) => ({
  filter: {},
  total: null,
  pages: {},
  error: null,
  setFilter(change) {
    generation += 1;
    asked.clear();
    set({ filter: { ...get().filter, ...change }, pages: {}, total: null });
    get().show(0, 1);
  },
  show(first, end) {
    for (let page = Math.floor(first / MAX_PAGE); page * MAX_PAGE < Math.max(end, 1); page++)
      if (!asked.has(page)) void read(page);
  },
  /** Keeps what is on screen until the new answer is here. */
  reload() {
    generation += 1;
    const pages = [...asked];
    asked.clear();
    for (const page of pages.length ? pages : [0]) void read(page);
  },
}));

async function read(page: number): Promise<void> {
  const started = generation;
  asked.add(page);
  try {
    const { filter } = useSessionList.getState();
    const { total, sessions } = await ask('sessions.list', { ...filter, offset: page * MAX_PAGE, limit: MAX_PAGE });
    if (started !== generation) return;
    useSessionList.setState(({ pages }) => ({ total, error: null, pages: { ...pages, [page]: sessions } }));
  } catch (error) {
    if (started !== generation) return;
    asked.delete(page);
    useSessionList.setState({ error: toErrorShape(error) });
  }
}

export const sessionAt = (pages: Record<number, Session[]>, row: number): Session | undefined =>
  pages[Math.floor(row / MAX_PAGE)]?.[row % MAX_PAGE];

const REFRESH_MS = 1_000;
const refresh = throttle(REFRESH_MS, () => useSessionList.getState().reload());

export function onSessionListEvent(message: EventMessage): void {
  if (useSessionList.getState().total === null) return;
  const changed = message.event === 'record.changed' && message.data.kind === 'session';
  if (changed || message.event === 'session.recorded' || message.event === 'window.resync') refresh();
}
