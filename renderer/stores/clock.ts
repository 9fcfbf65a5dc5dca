import { create } from 'zustand';

/** Unix ms, once a second: for ages and "in 4 m". */
export const useClock = create<{ now: number }>()(() => ({ now: Date.now() }));

export function startClock(): () => void {
  const timer = setInterval(() => useClock.setState({ now: Date.now() }), 1000);
  return () => clearInterval(timer);
}
