/** How far a run is. */
export function Progress({ done, total, label }: { done: number; total: number; label: string }) {
  return <progress className="progress" value={done} max={Math.max(total, 1)} aria-label={label} />;
}
