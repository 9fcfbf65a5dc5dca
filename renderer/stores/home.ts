import { create } from 'zustand';
import { type ErrorShape, toErrorShape } from '../../contract/errors.js';
import type { EventMessage } from '../../contract/events.js';
import { METRIC } from '../../contract/metrics.js';
import { type HomeState, MAX_JOB_REWARDS } from '../../contract/views.js';
import { ask } from '../bridge/client.js';
import { throttle } from '../logic/throttle.js';

interface Home {
  state: HomeState | null;
  error: ErrorShape | null;
  load(): Promise<void>;
}

/** State of the whole loop: Home shows it, the status bar shows a part of it. */
export const useHome = create<Home>()((set) => ({
  state: null,
  error: null,
  async load() {
    try {
      set({ state: await ask('home.state', {}), error: null });
    } catch (error) {
      set({ error: toErrorShape(error) });
    }
  },
}));

const REFRESH_MS = 1_000;
const refresh = throttle(REFRESH_MS, () => void useHome.getState().load());

export function onHomeEvent(message: EventMessage): void {
  const { state } = useHome.getState();
  if (message.event === 'window.resync') void useHome.getState().load();
  else if (message.event === 'record.changed' || message.event === 'session.recorded') refresh();
  else if (message.event === 'engine.status' && state)
    useHome.setState({ state: { ...state, engine: message.data.engine } });
  else if (message.event === 'run.step' && state && state.job?.id === message.data.runId) {
    const reward = message.data.metrics[METRIC.reward];
    if (reward !== undefined)
      useHome.setState({ state: { ...state, jobRewards: [...state.jobRewards, reward].slice(-MAX_JOB_REWARDS) } });
  } else if (message.event === 'run.status' && state) {
    const { run } = message.data;
    if (run.status === 'running' && state.job?.id === run.id) useHome.setState({ state: { ...state, job: run } });
    else refresh();
  }
}
