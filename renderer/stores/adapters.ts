import { create } from 'zustand';
import { type ErrorShape, toErrorShape } from '../../contract/errors.js';
import type { EventMessage } from '../../contract/events.js';
import type { Deployment, Harness } from '../../contract/records.js';
import type { AdapterView, DeploymentView } from '../../contract/views.js';
import { ask } from '../bridge/client.js';
import { throttle } from '../logic/throttle.js';
import { whileBusy } from './busy.js';

interface Adapters {
  adapters: AdapterView[] | null;
  deployments: DeploymentView[];
  error: ErrorShape | null;
  /** A swap or rollback is under way. */
  busy: boolean;
  load(): Promise<void>;
  /** null: the base model. True when it was done. */
  swap(harness: Harness, adapterId: string | null): Promise<boolean>;
  rollback(harness: Harness): Promise<boolean>;
}

export const useAdapters = create<Adapters>()((set, get) => {
  const change = (work: () => Promise<{ deployment: Deployment }>): Promise<boolean> =>
    whileBusy(set, async () => {
      await work();
      await get().load();
    });
  return {
    adapters: null,
    deployments: [],
    error: null,
    busy: false,
    async load() {
      try {
        set({ ...(await ask('adapters.list', {})), error: null });
      } catch (error) {
        set({ error: toErrorShape(error) });
      }
    },
    swap: (harness, adapterId) => change(() => ask('adapters.swap', { harness, adapterId })),
    rollback: (harness) => change(() => ask('adapters.rollback', { harness })),
  };
});

const REFRESH_MS = 500;
const refresh = throttle(REFRESH_MS, () => void useAdapters.getState().load());

export function onAdaptersEvent(message: EventMessage): void {
  if (useAdapters.getState().adapters === null) return;
  const changed = message.event === 'record.changed' && ['adapter', 'deployment'].includes(message.data.kind);
  if (changed || message.event === 'window.resync') refresh();
}
