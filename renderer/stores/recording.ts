import { create } from 'zustand';
import type { CallInput } from '../../contract/api.js';
import { type ErrorShape, toErrorShape } from '../../contract/errors.js';
import type { EventMessage } from '../../contract/events.js';
import type { RecordingState } from '../../contract/recording.js';
import { ask } from '../bridge/client.js';
import { throttle } from '../logic/throttle.js';
import { whileBusy } from './busy.js';

interface Recording {
  state: RecordingState | null;
  error: ErrorShape | null;
  busy: boolean;
  load(): Promise<void>;
  /** True when it was done. */
  change(change: CallInput<'recording.change'>): Promise<boolean>;
}

/** What is recorded: a screen of its own, and a word in the status bar. */
export const useRecording = create<Recording>()((set) => ({
  state: null,
  error: null,
  busy: false,
  async load() {
    try {
      set({ state: await ask('recording.state', {}), error: null });
    } catch (error) {
      set({ error: toErrorShape(error) });
    }
  },
  change: (change) => whileBusy(set, async () => set({ state: await ask('recording.change', change), error: null })),
}));

const REFRESH_MS = 5_000;
const refresh = throttle(REFRESH_MS, () => void useRecording.getState().load());

/** The command line may change it too, and nobody tells the window. Returns the function that ends it. */
export function watchRecording(): () => void {
  refresh();
  const timer = setInterval(refresh, 15_000);
  return () => clearInterval(timer);
}

export function onRecordingEvent(message: EventMessage): void {
  if (message.event === 'session.recorded' || message.event === 'window.resync') refresh();
}

/** At `now`; a pause ends by itself. `left`: milliseconds, null: until it is resumed. */
export function pauseOf(state: RecordingState | null, now: number): { left: number | null } | null {
  const paused = state?.settings.paused;
  if (!paused) return null;
  if (paused.until === null) return { left: null };
  return paused.until > now ? { left: paused.until - now } : null;
}
