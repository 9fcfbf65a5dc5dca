import { create } from 'zustand';
import type { CallInput } from '../../contract/api.js';
import { type ErrorShape, toErrorShape } from '../../contract/errors.js';
import type { AllowanceView, GuardSettingsView } from '../../contract/guard-calls.js';
import { ask } from '../bridge/client.js';
import { whileBusy } from './busy.js';
import { useGuardLog } from './guard-log.js';

interface Guard {
  settings: GuardSettingsView | null;
  allowances: AllowanceView[];
  error: ErrorShape | null;
  /** A change is under way. */
  busy: boolean;
  load(): Promise<void>;
  /** All of these: true when it was done. */
  configure(change: CallInput<'guard.configure'>): Promise<boolean>;
  addPlugin(path: string): Promise<boolean>;
  removePlugin(path: string): Promise<boolean>;
  wrong(verdictId: string): Promise<boolean>;
  revoke(id: string): Promise<boolean>;
}

/** How the guard judges, and what the user lets pass. */
export const useGuard = create<Guard>()((set, get) => {
  const settle = (work: () => Promise<{ settings: GuardSettingsView }>): Promise<boolean> =>
    whileBusy(set, async () => set(await work()));
  const answer = (work: () => Promise<unknown>): Promise<boolean> =>
    whileBusy(set, async () => {
      await work();
      await Promise.all([get().load(), useGuardLog.getState().load()]);
    });
  return {
    settings: null,
    allowances: [],
    error: null,
    busy: false,
    async load() {
      try {
        const [{ settings }, { allowances }] = await Promise.all([
          ask('guard.settings', {}),
          ask('guard.allowances', {}),
        ]);
        set({ settings, allowances, error: null });
      } catch (error) {
        set({ error: toErrorShape(error) });
      }
    },
    configure: (input) => settle(() => ask('guard.configure', input)),
    addPlugin: (path) => settle(() => ask('guard.addPlugin', { path })),
    removePlugin: (path) => settle(() => ask('guard.removePlugin', { path })),
    wrong: (verdictId) => answer(() => ask('guard.wrong', { verdictId })),
    revoke: (id) => answer(() => ask('guard.revoke', { id })),
  };
});
