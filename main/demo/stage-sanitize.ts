/** Cleans the recorded sessions: what was planted must be in the recording and gone from the copy. Writes one as ATIF. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { TackroomError } from '../../contract/errors.js';
import { Recorder } from '../record/recorder.js';
import { sanitizeSession } from '../sanitize/sanitize.js';
import { exportSession } from '../trajectory/export-session.js';
import { writeExport } from '../trajectory/write-export.js';
import type { DemoContext } from './context.js';
import { makePlanted } from './plant.js';
import type { SessionsResult } from './stage-sessions.js';

export interface SanitizeResult extends Record<string, unknown> {
  sessions: number;
  withPlanted: number;
  redactions: Record<string, number>;
  atif: string;
}

export async function sanitizeStage(context: DemoContext): Promise<SanitizeResult> {
  const { app, seed, state } = context;
  const { store, paths } = app.services;
  const { sessionIds } = state.done.sessions as SessionsResult;
  const recorder = new Recorder(store);
  const planted = Object.values(makePlanted(seed));
  const redactions: Record<string, number> = {};
  let withPlanted = 0;
  let withheld = 0;
  for (const id of sessionIds) {
    const transcript = recorder.sessionTranscript(id);
    if (!transcript) continue;
    const raw = JSON.stringify(transcript.steps);
    if (planted.some((text) => raw.includes(text))) withPlanted++;
    const clean = sanitizeSession(transcript.steps);
    withheld += clean.withheld.length;
    const after = JSON.stringify(clean.records);
    const left = planted.find((text) => after.includes(text));
    if (left)
      throw new TackroomError(
        'REFUSED',
        `A planted string is still in the cleaned copy of session ${id}.`,
        'This is a fault of the sanitizer: please report it.',
      );
    store.transaction(() => {
      for (const [i, r] of clean.redactions.entries()) {
        redactions[r.family] = (redactions[r.family] ?? 0) + r.occurrences;
        store.redaction.put({
          id: `${id}/red-${i}`,
          version: 1,
          createdAt: Date.now(),
          sessionId: id,
          family: r.family,
          placeholder: r.placeholder,
          occurrences: r.occurrences,
        });
      }
    });
  }
  if (withPlanted === 0)
    throw new TackroomError(
      'REFUSED',
      'No recorded session shows what was planted in its data.',
      'Start over with `tackroom demo --fresh`.',
    );
  const found = Object.entries(redactions).map(([family, n]) => `${n} x ${family}`);
  context.say(
    `  ${sessionIds.length} sessions; the planted token and home path stood in ${withPlanted} of them and are gone: ${found.join(', ')}${withheld ? `; ${withheld} records withheld` : ''}`,
  );
  const first = sessionIds[0]!;
  const folder = join(paths.home, 'exports');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const clean = exportSession(store, first, { format: 'atif' });
  const atif = writeExport(clean, { path: folder, sessionId: first, format: 'atif' });
  context.say(`  one of them as ATIF: ${atif}`);
  return { sessions: sessionIds.length, withPlanted, redactions, atif };
}
