import { create } from 'zustand';
import { type ErrorShape, toErrorShape } from '../../contract/errors.js';
import type { EventMessage } from '../../contract/events.js';
import type { RunSummary } from '../../contract/views.js';
import { ask } from '../bridge/client.js';
import { throttle } from '../logic/throttle.js';

interface RunList {
  runs: RunSummary[] | null;
  error: ErrorShape | null;
  load(): Promise<void>;
}

export const useRunList = create<RunList>()((set) => ({
  runs: null,
  error: null,
  async load() {
    try {
      set({ runs: (await ask('runs.list', {})).runs, error: null });
    } catch (error) {
      set({ error: toErrorShape(error) });
    }
  },
}));

const REFRESH_MS = 1_000;
const refresh = throttle(REFRESH_MS, () => void useRunList.getState().load());

export function onRunListEvent(message: EventMessage): void {
  const { runs } = useRunList.getState();
  if (runs === null) return;
  if (message.event === 'run.status' && runs.some(({ run }) => run.id === message.data.run.id)) {
    const { run } = message.data;
    useRunList.setState({ runs: runs.map((summary) => (summary.run.id === run.id ? { ...summary, run } : summary)) });
  } else if (['run.status', 'run.evaluation', 'window.resync'].includes(message.event)) refresh();
}
