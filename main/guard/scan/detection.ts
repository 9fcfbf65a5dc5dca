/** What a check found, and the helpers that detectors share. */
import type { Piece, Place, Trace, TraceCall } from './trace.js';

export type Status = 'match' | 'no_match' | 'unknown' | 'not_applicable' | 'error';
export interface Evidence extends Place {
  /** Characters of the piece, where the finding is in its text as written. */
  span: [number, number] | null;
}
export interface Detection {
  status: Status;
  evidence: Evidence[];
}
/** Looks at a whole trace; must work in linear time. `found` has what the checks before it found. */
export type Detector = (trace: Trace, found: ReadonlyMap<string, Detection>) => Detection;

const MAX_EVIDENCE = 100;
const MAX_SUBJECT = 400_000;

export const NOT_APPLICABLE: Detection = { status: 'not_applicable', evidence: [] };

export function detection(evidence: Evidence[]): Detection {
  return { status: evidence.length > 0 ? 'match' : 'no_match', evidence: evidence.slice(0, MAX_EVIDENCE) };
}

export function placeOf({ text: _, ...place }: Piece, span: [number, number] | null = null): Evidence {
  return { ...place, span };
}

export function stepPlace(trace: Trace, step: number): Evidence {
  const stepId = trace.document.steps[step]?.step_id ?? step + 1;
  return { step, stepId, channel: 'message', call: null, observation: null, field: null, span: null };
}

export function callPlace(call: TraceCall): Evidence {
  const { step, stepId, index } = call;
  return { step, stepId, channel: 'command', call: index, observation: null, field: null, span: null };
}

/** First hit of `pattern` in each piece. */
export function search(pieces: readonly Piece[], pattern: RegExp): Evidence[] {
  const out: Evidence[] = [];
  for (const piece of pieces) {
    const hit = pattern.exec(piece.text.slice(0, MAX_SUBJECT));
    if (hit) out.push(placeOf(piece, [hit.index, hit.index + hit[0].length]));
    if (out.length >= MAX_EVIDENCE) break;
  }
  return out;
}
