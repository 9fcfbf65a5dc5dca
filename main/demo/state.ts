/** What of a demo is done, in the store: starting again goes on after the last finished stage. */
import type { Store } from '../store/store.js';

export const STAGES = ['sessions', 'sanitize', 'tasks', 'train', 'swap', 'test'] as const;
export type StageName = (typeof STAGES)[number];

export interface DemoState {
  seed: number;
  /** Seconds spent in each stage, over all starts. */
  seconds: Partial<Record<StageName | 'services', number>>;
  done: Partial<Record<StageName, Record<string, unknown>>>;
}

const KEY = 'demo';

export function loadState(store: Store, seed: number): DemoState {
  const state = store.setting(KEY) as DemoState | undefined;
  return state && state.seed === seed ? state : { seed, seconds: {}, done: {} };
}

export function saveState(store: Store, state: DemoState): void {
  store.setSetting(KEY, state);
}
