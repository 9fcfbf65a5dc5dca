import { create } from 'zustand';
import { type ErrorShape, toErrorShape } from '../../contract/errors.js';
import type { Rollout } from '../../contract/records.js';
import { ask } from '../bridge/client.js';

interface Rollouts {
  runId: string | null;
  rollouts: Rollout[] | null;
  error: ErrorShape | null;
  load(runId: string): Promise<void>;
}

const SHOWN = 50;

/** The newest rollouts of a run, read when asked for: they come too fast to follow each one. */
export const useRollouts = create<Rollouts>()((set, get) => ({
  runId: null,
  rollouts: null,
  error: null,
  async load(runId) {
    if (get().runId !== runId) set({ runId, rollouts: null, error: null });
    try {
      const { rollouts } = await ask('runs.rollouts', { id: runId, limit: SHOWN });
      if (get().runId === runId) set({ rollouts, error: null });
    } catch (error) {
      if (get().runId === runId) set({ error: toErrorShape(error) });
    }
  },
}));
