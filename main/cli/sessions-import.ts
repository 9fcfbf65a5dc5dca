/** `tackroom sessions import PATH`. */
import { setImmediate } from 'node:timers/promises';
import { TackroomError } from '../../contract/errors.js';
import { SourceHarness } from '../../contract/records.js';
import { claudeCodeReader } from '../harness/sessions/claude-code.js';
import { codexReader } from '../harness/sessions/codex.js';
import { hermesReader } from '../harness/sessions/hermes.js';
import { opencodeReader } from '../harness/sessions/opencode.js';
import { piReader } from '../harness/sessions/pi.js';
import type { SessionReader } from '../harness/sessions/session-writer.js';
import { type ImportReport, importSessions } from '../record/import-sessions.js';
import { isHomeInUse } from '../services/home-lock.js';
import { atifReader } from '../trajectory/import-atif.js';
import { type GlobalOptions, withStore } from './context.js';
import type { CommandIo } from './io.js';
import { table } from './table.js';

export const SESSION_READERS: readonly SessionReader[] = [
  piReader,
  codexReader,
  claudeCodeReader,
  opencodeReader,
  hermesReader,
  atifReader,
];

/** Sessions between two looks at Ctrl-C. */
const BREATH = 16;

export async function sessionsImportCommand(
  options: GlobalOptions & { path: string; harness: string; json?: boolean },
  io: CommandIo,
): Promise<number> {
  const readers = readersFor(options.harness);
  return withStore(options, async (store) => {
    const onProgress = async (sessions: number): Promise<void> => {
      if (sessions % BREATH === 0) await setImmediate();
      if (io.signal.aborted)
        throw new TackroomError('CANCELLED', `Stopped; ${sessions} sessions are imported.`, 'Run it again to go on.');
    };
    const report = await importSessions(store, options.path, readers, onProgress, () => isHomeInUse(store.home));
    if (options.json) io.stdout.write(`${JSON.stringify(asJson(report))}\n`);
    else print(report, io);
    return report.sessions.length === 0 && report.skipped.length > 0 ? 1 : 0;
  });
}

function readersFor(name: string): readonly SessionReader[] {
  if (name === 'auto') return SESSION_READERS;
  const harness = SourceHarness.safeParse(name);
  if (!harness.success)
    throw new TackroomError(
      'BAD_ARGUMENT',
      `Sessions of ${name} cannot be imported.`,
      `Known: auto, ${SourceHarness.options.join(', ')}.`,
    );
  return SESSION_READERS.filter((reader) => reader.harness === harness.data);
}

function asJson({ sessions, skipped }: ImportReport): unknown {
  return {
    sessions: sessions.map(({ session, added }) => ({
      id: session.id,
      harness: session.source?.harness ?? session.harness,
      harness_session_id: session.harnessSessionId,
      title: session.title,
      model: session.model,
      cwd: session.source?.cwd ?? null,
      parent: session.source?.parent ?? null,
      created_at: session.createdAt,
      requests: session.requests,
      tool_calls: session.toolCalls,
      added_requests: added,
      path: session.source?.path ?? null,
    })),
    skipped,
  };
}

function print({ sessions, skipped }: ImportReport, io: CommandIo): void {
  io.stdout.write(
    table(
      ['id', 'harness', 'requests', 'new', 'calls', 'title'],
      sessions.map(({ session, added }) => [
        session.id,
        session.source?.harness ?? session.harness,
        session.requests,
        added,
        session.toolCalls,
        session.title.slice(0, 60),
      ]),
    ),
  );
  for (const { path, line, reason } of skipped)
    io.stderr.write(`skipped ${path}${line === null ? '' : `, line ${line}`}: ${reason}\n`);
}
