import { create } from 'zustand';

/** Steps shown, both ends included. */
export type Zoom = { min: number; max: number };

interface RunView {
  /** null: all steps. */
  zoom: Zoom | null;
  /** The charts move with the newest step; a zoom stops that. */
  following: boolean;
  /** Weight of the moving average, 0 to 0.95. */
  smoothing: number;
  zoomTo(zoom: Zoom): void;
  follow(): void;
  setSmoothing(smoothing: number): void;
}

const DEFAULT_SMOOTHING = 0.6;

/** How the charts of the run page are looked at; the same for all of them. */
export const useRunView = create<RunView>()((set) => ({
  zoom: null,
  following: true,
  smoothing: DEFAULT_SMOOTHING,
  zoomTo: (zoom) => set({ zoom, following: false }),
  follow: () => set({ zoom: null, following: true }),
  setSmoothing: (smoothing) => set({ smoothing: Math.min(0.95, Math.max(0, smoothing)) }),
}));
