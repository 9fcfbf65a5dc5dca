import { create } from 'zustand';
import { type ErrorShape, toErrorShape } from '../../contract/errors.js';
import type { EventMessage } from '../../contract/events.js';
import type { GuardEntry, GuardFilter } from '../../contract/guard-calls.js';
import { ask } from '../bridge/client.js';
import { throttle } from '../logic/throttle.js';
import { useRoute } from './route.js';

interface GuardLog {
  filter: GuardFilter;
  /** Newest first; null until read. */
  entries: GuardEntry[] | null;
  more: boolean;
  rules: { rule: string; found: number }[];
  error: ErrorShape | null;
  /** Reads again what is on screen. */
  load(): Promise<void>;
  older(): Promise<void>;
  setFilter(change: GuardFilter): Promise<void>;
}

let generation = 0;

export const useGuardLog = create<GuardLog>()((set, get) => ({
  filter: {},
  entries: null,
  more: false,
  rules: [],
  error: null,
  load: () => read(get().entries?.length ?? 0),
  older: () => read((get().entries?.length ?? 0) + 1),
  setFilter(change) {
    set({ filter: { ...get().filter, ...change }, entries: null });
    return read(0);
  },
}));

/** Reads pages until at least `count` entries are here, one at the least; a later reading wins. */
async function read(count: number): Promise<void> {
  generation += 1;
  const started = generation;
  const { filter } = useGuardLog.getState();
  try {
    const { rules } = await ask('guard.rules', { rollouts: filter.rollouts ?? false });
    const entries: GuardEntry[] = [];
    let more = true;
    while (more && (entries.length === 0 || entries.length < count)) {
      const page = await ask('guard.log', { ...filter, offset: entries.length });
      entries.push(...page.entries);
      more = page.more;
    }
    if (started === generation) useGuardLog.setState({ entries, more, rules, error: null });
  } catch (error) {
    if (started === generation) useGuardLog.setState({ error: toErrorShape(error) });
  }
}

const REFRESH_MS = 1_000;
const refresh = throttle(REFRESH_MS, () => void useGuardLog.getState().load());

export function onGuardLogEvent(message: EventMessage): void {
  const { entries, filter } = useGuardLog.getState();
  if (entries === null || useRoute.getState().route.screen !== 'guard') return;
  const recorded =
    message.event === 'session.recorded' && (message.data.origin !== 'rollout' || (filter.rollouts ?? false));
  if (recorded || message.event === 'window.resync') refresh();
}
