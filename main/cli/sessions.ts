/** `tackroom sessions …`. */
import { TackroomError } from '../../contract/errors.js';
import { Recorder } from '../record/recorder.js';
import type { Transcript, TranscriptStep } from '../record/transcript.js';
import { workspaceOf } from '../record/workspace/workspace-store.js';
import { sessionsContaining } from '../store/search.js';
import type { Store } from '../store/store.js';
import { noteExport, textHash } from '../trajectory/export-log.js';
import { exportSession, rawExport } from '../trajectory/export-session.js';
import { rawText, writeExport, writeRawExport } from '../trajectory/write-export.js';
import { exportRegistry, verdictLine } from './clean-verdict.js';
import { type GlobalOptions, withStore } from './context.js';
import type { CommandIo } from './io.js';
import { wholeNumber } from './numbers.js';
import { printable } from './printable.js';
import { minuteText, table } from './table.js';
import { workspaceText } from './workspace-text.js';

export async function sessionsListCommand(
  options: GlobalOptions & { json?: boolean; limit: string },
  io: CommandIo,
): Promise<number> {
  const limit = wholeNumber('--limit', options.limit, 1);
  return withStore(options, (store) => {
    const sessions = store.session.list({ orderBy: 'updatedAt', limit });
    printSessions(io, sessions, options.json);
    return 0;
  });
}

function printSessions(io: CommandIo, sessions: ReturnType<Store['session']['list']>, json?: boolean): void {
  if (json) io.stdout.write(`${JSON.stringify({ sessions })}\n`);
  else
    io.stdout.write(
      table(
        ['id', 'last request', 'harness', 'origin', 'requests', 'calls', 'blocked', 'title'],
        sessions.map((s) => [
          s.id,
          minuteText(s.updatedAt),
          s.source?.harness ?? s.harness,
          s.origin,
          s.requests,
          s.toolCalls,
          s.blocked,
          s.title.slice(0, 60),
        ]),
      ),
    );
}

function mustFind(store: Store, id: string): Transcript {
  const transcript = new Recorder(store).sessionTranscript(id);
  if (!transcript)
    throw new TackroomError('NOT_FOUND', `There is no session ${id}.`, 'List them with `tackroom sessions list`.');
  return transcript;
}

export async function sessionsShowCommand(
  options: GlobalOptions & { id: string; json?: boolean },
  io: CommandIo,
): Promise<number> {
  return withStore(options, async (store) => {
    const transcript = mustFind(store, options.id);
    const workspace = workspaceOf(store, options.id);
    if (options.json) {
      io.stdout.write(`${JSON.stringify({ ...transcript, ...(workspace && { workspace }) })}\n`);
      return 0;
    }
    io.stdout.write(`${printable(await verdictLine(store, options.id, io))}\n`);
    if (workspace) io.stdout.write(printable(workspaceText(workspace)));
    for (const step of transcript.steps) {
      if (step.kind === 'rewrite')
        io.stdout.write(`--- the harness replaced its history, ${step.kept} messages kept\n`);
      else if (step.kind === 'assistant') {
        io.stdout.write(
          `--- assistant (${step.auxiliary ? `${step.purpose ?? 'beside the conversation'}, ` : ''}${step.promptTokens} + ${step.completionTokens} tokens, ${(step.durationMs / 1000).toFixed(2)} s)\n`,
        );
        if (step.text) io.stdout.write(`${printable(step.text)}\n`);
        for (const call of step.toolCalls)
          io.stdout.write(
            `> ${call.name} ${printable(call.arguments)}${call.verdict === 'allow' ? '' : `  [${call.verdict}: ${call.reason}]`}\n`,
          );
      } else io.stdout.write(`--- ${headOf(step)}\n${printable(step.text)}\n`);
    }
    return 0;
  });
}

function headOf(step: Exclude<TranscriptStep, { kind: 'assistant' | 'rewrite' }>): string {
  if (step.kind !== 'tool') return step.mark ? `${step.kind} (${step.mark})` : step.kind;
  if (typeof step.exitCode === 'number') return `tool (exit code ${step.exitCode})`;
  return step.isError ? 'tool (failed)' : 'tool';
}

export async function sessionsSearchCommand(
  options: GlobalOptions & { text: string; json?: boolean },
  io: CommandIo,
): Promise<number> {
  return withStore(options, (store) => {
    const ids = sessionsContaining(store.db, options.text);
    const found = [...ids].flatMap((id) => store.session.get(id) ?? []).sort((a, b) => b.updatedAt - a.updatedAt);
    printSessions(io, found, options.json);
    return 0;
  });
}

export async function sessionsDeleteCommand(options: GlobalOptions & { id: string }, io: CommandIo): Promise<number> {
  return withStore(options, (store) => {
    if (!new Recorder(store).deleteSession(options.id))
      throw new TackroomError(
        'NOT_FOUND',
        `There is no session ${options.id}.`,
        'List them with `tackroom sessions list`.',
      );
    io.stdout.write(`Deleted ${options.id}.\n`);
    return 0;
  });
}

export async function sessionsExportCommand(
  options: GlobalOptions & { id: string; format: string; output?: string; raw?: boolean },
  io: CommandIo,
): Promise<number> {
  return withStore(options, async (store) => {
    mustFind(store, options.id);
    const { id, format, output } = options;
    if (options.raw) {
      const document = rawExport(store, id, format);
      const written = output === undefined ? null : writeRawExport(document, { path: output, sessionId: id, format });
      if (written === null) io.stdout.write(rawText(document));
      io.stderr.write(`${written ?? 'This export'} is NOT sanitized: keep it on this machine\n`);
      return 0;
    }
    const document = exportSession(store, id, { format, registry: await exportRegistry(store, id, io) });
    const path = output === undefined ? '' : writeExport(document, { path: output, sessionId: id, format });
    if (path === '') io.stdout.write(document.text());
    else io.stderr.write(`${path}\n`);
    noteExport(store, { sessionId: id, format, path, sha256: textHash(document.text()), facts: document.facts });
    return 0;
  });
}
