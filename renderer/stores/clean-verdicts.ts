import { create } from 'zustand';
import type { ListedVerdict } from '../../contract/clean-calls.js';
import type { EventMessage } from '../../contract/events.js';
import { ask } from '../bridge/client.js';
import { throttle } from '../logic/throttle.js';

interface CleanVerdicts {
  verdicts: Record<string, ListedVerdict>;
  /** Reads those of sessions that are on screen. */
  show(ids: readonly string[]): void;
}

const MOST = 200;
let shown: readonly string[] = [];

/** What is said of the cleaned copies of listed sessions. */
export const useCleanVerdicts = create<CleanVerdicts>()((_set, get) => ({
  verdicts: {},
  show(ids) {
    shown = ids.slice(0, MOST);
    if (shown.some((id) => !get().verdicts[id])) refresh();
  },
}));

async function read(): Promise<void> {
  const ids = [...shown];
  if (ids.length === 0) return;
  try {
    const { verdicts } = await ask('clean.verdicts', { ids });
    useCleanVerdicts.setState((state) => ({
      verdicts: { ...state.verdicts, ...Object.fromEntries(verdicts.map((one) => [one.sessionId, one])) },
    }));
  } catch {
    // The list is of use without them; it tells what is wrong itself.
  }
}

const REFRESH_MS = 500;
const refresh = throttle(REFRESH_MS, () => void read());

export function onCleanVerdictsEvent(message: EventMessage): void {
  const changed = message.event === 'record.changed' && message.data.kind === 'session';
  if (changed || message.event === 'session.recorded' || message.event === 'window.resync') refresh();
}
