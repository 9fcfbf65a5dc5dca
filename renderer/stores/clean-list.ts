import { create } from 'zustand';
import type { CallInput, CallOutput } from '../../contract/api.js';
import type { DecisionView, VerdictFilter } from '../../contract/clean-calls.js';
import { type ErrorShape, toErrorShape } from '../../contract/errors.js';
import type { EventMessage } from '../../contract/events.js';
import { ask } from '../bridge/client.js';
import { throttle } from '../logic/throttle.js';
import { whileBusy } from './busy.js';
import { useRoute } from './route.js';

type Listed = CallOutput<'clean.list'>;

interface CleanList {
  filter: VerdictFilter | undefined;
  list: Listed | null;
  /** The user's own, for all sessions. */
  rules: DecisionView[];
  error: ErrorShape | null;
  rulesError: ErrorShape | null;
  busy: boolean;
  load(): Promise<void>;
  more(): Promise<void>;
  setFilter(filter: VerdictFilter | undefined): Promise<void>;
  checkAll(): Promise<boolean>;
  stopChecks(): Promise<boolean>;
  addRule(rule: CallInput<'clean.addRule'>): Promise<boolean>;
  removeRule(id: string): Promise<boolean>;
  forgetRules(): Promise<boolean>;
}

let generation = 0;

/** Sessions by what is said of their cleaned copies, and the rules for all of them. */
export const useCleanList = create<CleanList>()((set, get) => {
  const change = (work: () => Promise<unknown>): Promise<boolean> =>
    whileBusy(set, async () => {
      await work();
      await get().load();
    });
  return {
    filter: undefined,
    list: null,
    rules: [],
    error: null,
    rulesError: null,
    busy: false,
    async load() {
      await Promise.all([read(get().list?.sessions.length ?? 0), readRules()]);
    },
    more: () => read((get().list?.sessions.length ?? 0) + 1),
    setFilter(filter) {
      set({ filter });
      return read(0);
    },
    checkAll: () => change(() => ask('clean.checkAll', {})),
    stopChecks: () => change(() => ask('clean.stopChecks', {})),
    addRule: (rule) => change(() => ask('clean.addRule', rule)),
    removeRule: (id) => change(() => ask('clean.undo', { id })),
    forgetRules: () => change(() => ask('clean.forget', {})),
  };
});

/** Reads until at least `count` sessions are here; a later reading wins. */
async function read(count: number): Promise<void> {
  generation += 1;
  const started = generation;
  const verdict = useCleanList.getState().filter;
  try {
    let list = await ask('clean.list', { verdict });
    while (list.sessions.length < Math.min(count, list.total)) {
      const page = await ask('clean.list', { verdict, offset: list.sessions.length });
      if (page.sessions.length === 0) break;
      list = { ...page, sessions: [...list.sessions, ...page.sessions] };
    }
    if (started === generation) useCleanList.setState({ list, error: null });
  } catch (error) {
    if (started === generation) useCleanList.setState({ error: toErrorShape(error) });
  }
}

async function readRules(): Promise<void> {
  try {
    const { decisions } = await ask('clean.decisions', {});
    useCleanList.setState({ rules: decisions, rulesError: null });
  } catch (error) {
    useCleanList.setState({ rules: [], rulesError: toErrorShape(error) });
  }
}

const REFRESH_MS = 700;
const refresh = throttle(REFRESH_MS, () => void useCleanList.getState().load());

export function onCleanListEvent(message: EventMessage): void {
  if (useCleanList.getState().list === null || useRoute.getState().route.screen !== 'clean') return;
  const changed = message.event === 'record.changed' && message.data.kind === 'session';
  if (changed || message.event === 'session.recorded' || message.event === 'window.resync') refresh();
}
