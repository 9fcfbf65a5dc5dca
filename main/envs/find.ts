/** Sessions in, candidates for tasks and counted reasons out. Runs nothing; the same input gives the same answer. */
import { sha256Hex } from './content-hash.js';
import { stateSha } from './file-history.js';
import { findBuildAndExtend } from './find-build.js';
import { type Drop, drop, type FoundCandidate, findRepairs, type Work } from './find-repair.js';
import { replaySession } from './replay.js';
import { type ScreenOptions, screenSession } from './screen.js';
import type { SessionTrace } from './session-events.js';

export interface FindResult {
  works: (Work & { session: number })[];
  drops: Drop[];
}

export function findWork(traces: SessionTrace[], screen: ScreenOptions = { secrets: true }): FindResult {
  const result: FindResult = { works: [], drops: [] };
  const seen = new Set<string>();
  traces.forEach((trace, session) => {
    const screened = screenSession(trace, screen);
    if (screened) {
      result.drops.push(screened);
      return;
    }
    const replay = replaySession(trace);
    const first = trace.events.find((event) => event.kind === 'user');
    const identity = sha256Hex(`${first?.text ?? ''}\0${stateSha(replay.history.stateAt(replay.end))}`);
    if (seen.has(identity)) {
      result.drops.push(drop('intake', 'dedup'));
      return;
    }
    seen.add(identity);
    const repairs = findRepairs(replay);
    const larger = findBuildAndExtend(replay);
    const works = [...repairs.works, ...larger.works];
    result.works.push(...works.map((work) => ({ ...work, session })));
    const drops = [...repairs.drops, ...larger.drops];
    if (works.length + drops.length === 0)
      drops.push(replay.truncated ? drop('replay', 'truncated') : drop('find', 'nothing'));
    result.drops.push(...drops);
  });
  return result;
}

/** The JSON form of `envs find --json` (design/cli.md). */
export function findReport(result: FindResult): {
  candidates: (FoundCandidate & { session: number })[];
  drops: Drop[];
} {
  return { candidates: result.works.map(({ candidate, session }) => ({ ...candidate, session })), drops: result.drops };
}
