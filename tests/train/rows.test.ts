import { describe, expect, it } from 'vitest';
import type { TraceEntry } from '../../main/proxy/protocol.js';
import { traceRows } from '../../main/train/rows.js';

const entry = (promptIds: number[], completionIds: number[], change: Partial<TraceEntry> = {}): TraceEntry => ({
  requestId: 'r',
  promptIds,
  completionIds,
  logprobs: completionIds.map((id) => -id / 10),
  adapterHash: null,
  finish: 'stop',
  synthetic: false,
  blocked: 0,
  ...change,
});

describe('traceRows', () => {
  it('extends a row while prompts repeat what was sampled', () => {
    const rows = traceRows([entry([1, 2], [3, 4]), entry([1, 2, 3, 4, 5], [6])]);
    expect(rows).toHaveLength(1);
    expect(rows[0]).toEqual({
      inputIds: [1, 2, 3, 4, 5, 6],
      completionMask: [0, 0, 1, 1, 0, 1],
      oldLogprobs: [0, 0, -0.3, -0.4, 0, -0.6],
    });
  });
  it('starts a new row where the harness rewrote history', () => {
    const rows = traceRows([entry([1, 2], [3, 4]), entry([1, 2, 3, 9, 5], [6])]);
    expect(rows.map((r) => r.inputIds)).toEqual([
      [1, 2, 3, 4],
      [1, 2, 3, 9, 5, 6],
    ]);
    expect(rows[1]!.completionMask).toEqual([0, 0, 0, 0, 0, 1]);
  });
  it('never trains on what the proxy said itself', () => {
    expect(traceRows([entry([1], [2], { synthetic: true })])).toEqual([]);
  });
  it('puts loss on exactly the sampled tokens', () => {
    const trace = [entry([1, 2], [3]), entry([1, 2, 3, 7], [8, 9]), entry([5], [6])];
    const masked = traceRows(trace).flatMap((r) => r.inputIds.filter((_, i) => r.completionMask[i]));
    expect(masked).toEqual([3, 8, 9, 6]);
  });
});
