import { create } from 'zustand';
import type { CallInput, CallName, CallOutput } from '../../contract/api.js';
import type { ConnectHarness, ConnectState, TestResult } from '../../contract/connect-calls.js';
import { type ErrorShape, toErrorShape } from '../../contract/errors.js';
import type { EventMessage } from '../../contract/events.js';
import { ask } from '../bridge/client.js';
import { throttle } from '../logic/throttle.js';
import { whileBusy } from './busy.js';
import { tellError } from './notices.js';

type Program = CallOutput<'connect.program'>['program'];
/** What a change is: a call of this screen that answers nothing but that it was done. */
type Change = Extract<
  CallName,
  | 'connect.apply'
  | 'connect.setServer'
  | 'connect.forgetServer'
  | 'connect.unlockVault'
  | 'connect.useKeychain'
  | 'connect.setLoginItem'
>;

interface Connect {
  state: ConnectState | null;
  error: ErrorShape | null;
  /** Absent: not known yet; null: not found. */
  programs: Partial<Record<ConnectHarness, Program>>;
  tests: Partial<Record<ConnectHarness, TestResult | 'running'>>;
  busy: boolean;
  load(): Promise<void>;
  look(harness: ConnectHarness): Promise<void>;
  test(harness: ConnectHarness): Promise<void>;
  /** True when it was done; else the user was told why not. */
  change<N extends Change>(name: N, input: CallInput<N>): Promise<boolean>;
}

export const useConnect = create<Connect>()((set, get) => ({
  state: null,
  error: null,
  programs: {},
  tests: {},
  busy: false,
  async load() {
    try {
      set({ state: await ask('connect.state', {}), error: null });
    } catch (error) {
      set({ error: toErrorShape(error) });
    }
  },
  async look(harness) {
    try {
      const { program } = await ask('connect.program', { harness });
      set(({ programs }) => ({ programs: { ...programs, [harness]: program } }));
    } catch (error) {
      tellError(error);
    }
  },
  async test(harness) {
    const keep = (result: TestResult | 'running' | undefined): void =>
      set(({ tests }) => ({ tests: { ...tests, [harness]: result } }));
    keep('running');
    try {
      keep(await ask('connect.test', { harness }));
    } catch (error) {
      keep(undefined);
      tellError(error);
    }
    await get().load();
  },
  change: (name, input) =>
    whileBusy(set, async () => {
      await ask(name, input);
      await get().load();
    }),
}));

const REFRESH_MS = 2_000;
const refresh = throttle(REFRESH_MS, () => void useConnect.getState().load());

export function onConnectEvent(message: EventMessage): void {
  if (useConnect.getState().state === null) return;
  if (message.event === 'window.resync') refresh();
}
