/** Runs `work` once, `ms` after the first of a burst of calls: at most one run every `ms`, the last call never lost. */
export function throttle(ms: number, work: () => void): () => void {
  let waiting = false;
  return () => {
    if (waiting) return;
    waiting = true;
    setTimeout(() => {
      waiting = false;
      work();
    }, ms);
  };
}
