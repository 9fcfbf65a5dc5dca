import { create } from 'zustand';
import { type ErrorShape, toErrorShape } from '../../contract/errors.js';
import type { EventMessage } from '../../contract/events.js';
import type { RunDetail } from '../../contract/views.js';
import { ask } from '../bridge/client.js';
import { applyRunEvent } from '../logic/run-reducer.js';
import { throttle } from '../logic/throttle.js';
import { tellError } from './notices.js';

interface OpenRun {
  id: string | null;
  detail: RunDetail | null;
  error: ErrorShape | null;
  /** When the last news of this run came, Unix ms. */
  newsAt: number | null;
  stopping: boolean;
  open(id: string): Promise<void>;
  stop(): Promise<void>;
}

/** Events that come while the run is being read; they are newer than the answer or already in it. */
const readings = new Set<EventMessage[]>();

/** The one run that is on screen, kept up to date by events. */
export const useRun = create<OpenRun>()((set, get) => ({
  id: null,
  detail: null,
  error: null,
  newsAt: null,
  stopping: false,
  async open(id) {
    if (get().id !== id) set({ id, detail: null, error: null, newsAt: null, stopping: false });
    const early: EventMessage[] = [];
    readings.add(early);
    try {
      const read = await ask('runs.get', { id });
      if (get().id !== id) return;
      const detail = early.filter(({ event }) => event !== 'run.rollout').reduce(applyRunEvent, read);
      set({ detail, error: null, newsAt: lastNews(detail) });
    } catch (error) {
      if (get().id === id) set({ error: toErrorShape(error) });
    } finally {
      readings.delete(early);
    }
  },
  async stop() {
    const { id } = get();
    if (id === null) return;
    set({ stopping: true });
    try {
      await ask('runs.stop', { id });
    } catch (error) {
      set({ stopping: false });
      tellError(error);
    }
  },
}));

const lastNews = ({ run, steps }: RunDetail): number => Math.max(run.updatedAt, steps.at(-1)?.createdAt ?? 0);

/** Checkpoints come without data in their event. */
const REFRESH_MS = 1_000;
const refresh = throttle(REFRESH_MS, () => {
  const { id, open } = useRun.getState();
  if (id !== null) void open(id);
});

export function onRunEvent(message: EventMessage): void {
  const { id, detail } = useRun.getState();
  if (id === null) return;
  for (const early of readings) early.push(message);
  if (message.event === 'window.resync' || (message.event === 'record.changed' && message.data.kind === 'checkpoint'))
    refresh();
  if (!detail) return;
  const next = applyRunEvent(detail, message);
  if (next === detail) return;
  useRun.setState({ detail: next, newsAt: Date.now() });
  if (next.run.status !== 'running') useRun.setState({ stopping: false });
}
