/**
 * From the requests of a rollout to training rows. A request whose prompt starts with exactly the tokens held so far
 * extends the row (its new prompt tokens without loss, its completion with loss); any other starts a row of its own, so
 * the tokens trained on are always those that were sampled in that context. All rows of a rollout share its advantage.
 */
import type { WireSample } from '../engine/protocol.js';
import type { TraceEntry } from '../proxy/protocol.js';

export interface TrainingRow {
  inputIds: number[];
  completionMask: number[];
  oldLogprobs: number[];
}

const startsWith = (ids: readonly number[], prefix: readonly number[]): boolean =>
  ids.length >= prefix.length && prefix.every((id, i) => ids[i] === id);

export function traceRows(trace: readonly TraceEntry[]): TrainingRow[] {
  const rows: TrainingRow[] = [];
  let row: TrainingRow | undefined;
  for (const entry of trace) {
    if (entry.synthetic || entry.completionIds.length === 0) continue;
    if (!row || !startsWith(entry.promptIds, row.inputIds)) {
      row = { inputIds: [], completionMask: [], oldLogprobs: [] };
      rows.push(row);
    }
    const held = row.inputIds.length;
    for (const id of entry.promptIds.slice(held)) {
      row.inputIds.push(id);
      row.completionMask.push(0);
      row.oldLogprobs.push(0);
    }
    entry.completionIds.forEach((id, i) => {
      row!.inputIds.push(id);
      row!.completionMask.push(1);
      row!.oldLogprobs.push(entry.logprobs[i]!);
    });
  }
  return rows;
}

export function toSamples(rows: readonly TrainingRow[], advantage: number): WireSample[] {
  return rows.map((row) => ({ ...row, advantage }));
}
