/** Which rows of a long list of equal heights are on screen. */
const OVERSCAN = 8;

export interface RowRange {
  first: number;
  /** One past the last. */
  end: number;
}

export function visibleRows(scrollTop: number, viewHeight: number, rowHeight: number, total: number): RowRange {
  const first = Math.max(0, Math.floor(scrollTop / rowHeight) - OVERSCAN);
  const end = Math.min(total, Math.ceil((scrollTop + viewHeight) / rowHeight) + OVERSCAN);
  return { first: Math.min(first, end), end };
}
