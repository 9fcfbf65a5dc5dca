/** The catalogue of checks (`resources/guard/checks.json`) and the detectors that are patterns over channels. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { packageRoot } from '../../../native/addon.js';
import { SEVERITIES } from '../types.js';
import {
  callPlace,
  type Detection,
  type Detector,
  detection,
  type Evidence,
  NOT_APPLICABLE,
  placeOf,
} from './detection.js';
import { CHANNELS, type Piece, type Trace } from './trace.js';

/** Beside the channels: `run` simple commands as parsed, `write` paths written, `web_result`, `lookup_path` paths that are not written. */
const On = z.enum([...CHANNELS, 'run', 'write', 'web_result', 'lookup_path']);
const CheckFile = z.object({
  version: z.literal(1),
  checks: z.array(
    z.object({
      id: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_.:/-]{0,127}$/),
      severity: z.enum(SEVERITIES),
      kind: z.enum(['detector', 'rule', 'context', 'allowance']),
      title: z.string(),
      /** Checks that an allowance excuses. */
      covers: z.array(z.string()).optional(),
      /** Cannot be told without the task's name. */
      needs: z.literal('task').optional(),
      /** Any of these; all patterns of one must be in the same text. `{task}` stands for the task's name. */
      match: z.array(z.object({ on: z.array(On).min(1), all: z.array(z.string().max(2000)).min(1) })).optional(),
    }),
  ),
});
export type CheckSpec = z.infer<typeof CheckFile>['checks'][number];

let catalogue: CheckSpec[] | undefined;

export function checkCatalogue(): CheckSpec[] {
  catalogue ??= CheckFile.parse(
    JSON.parse(readFileSync(join(packageRoot(), 'resources', 'guard', 'checks.json'), 'utf8')),
  ).checks;
  return catalogue;
}

const MAX_SUBJECT = 400_000;

/** The detector of a check that has patterns. */
export function patternDetector(spec: CheckSpec): Detector {
  const byTask = new Map<string | null, { on: Set<string>; all: RegExp[] }[]>();
  return (trace) => {
    if (spec.needs === 'task' && trace.task === null) return NOT_APPLICABLE;
    let matchers = byTask.get(trace.task);
    if (!matchers) {
      matchers = (spec.match ?? [])
        .filter(({ all }) => trace.task !== null || !all.some((pattern) => pattern.includes('{task}')))
        .map(({ on, all }) => ({
          on: new Set<string>(on),
          all: all.map((pattern) => new RegExp(pattern.replaceAll('{task}', escapeRegExp(trace.task ?? '')), 'im')),
        }));
      if (byTask.size < 20) byTask.set(trace.task, matchers);
    }
    return detection(matchers.flatMap(({ on, all }) => searchTrace(trace, on, all)));
  };
}

function searchTrace(trace: Trace, on: ReadonlySet<string>, all: RegExp[]): Evidence[] {
  const out: Evidence[] = [];
  const look = (piece: Piece): void => {
    const text = piece.text.slice(0, MAX_SUBJECT);
    const hits = all.map((pattern) => pattern.exec(text));
    const first = hits[0];
    if (first && hits.every((hit) => hit !== null))
      out.push(placeOf(piece, [first.index, first.index + first[0].length]));
  };
  for (const piece of trace.authored) if (on.has(piece.channel)) look(piece);
  if (on.has('prompt')) trace.prompts.forEach(look);
  if (on.has('observation')) trace.observations.forEach(look);
  for (const call of trace.calls) {
    if (on.has('web_result') && call.web) call.results.forEach(look);
    if (on.has('lookup_path') && !call.writes)
      for (const piece of call.pieces) if (piece.channel === 'path') look(piece);
    const { surface } = call;
    const texts = [
      ...(on.has('run') ? surface.commands : []),
      ...(on.has('write') ? surface.writes.map(({ path }) => path) : []),
      ...(on.has('command') ? surface.code : []),
    ];
    if (texts.some((text) => all.every((pattern) => pattern.test(text.slice(0, MAX_SUBJECT)))))
      out.push(callPlace(call));
  }
  return out;
}

export function escapeRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

export function emptyDetection(): Detection {
  return { status: 'no_match', evidence: [] };
}
