/** A recorded session as a document: sanitized for others, or raw, with the exact tokens, for this machine only. */
import { TackroomError } from '../../contract/errors.js';
import type { ToolDefinition } from '../engine/protocol.js';
import { Recorder } from '../record/recorder.js';
import { workspaceOf } from '../record/workspace/workspace-store.js';
import { type CleanDocument, cleanDocument } from '../sanitize/clean.js';
import type { Registry } from '../sanitize/detect/registry.js';
import { UNSANITIZED } from '../sanitize/publishable.js';
import type { Store } from '../store/store.js';
import { sessionInputOf } from './from-transcript.js';
import { toAtif } from './to-atif.js';

export interface ExportOptions {
  format: string;
  /** The detectors with the user's rules and decisions; absent: the detectors alone. */
  registry?: Registry;
}

/** Errors: NOT_FOUND, UNSUPPORTED format, REFUSED when a rule keeps it in, or a look at the cleaned copy still finds something. */
export function exportSession(store: Store, id: string, { format, registry }: ExportOptions): CleanDocument {
  const document = sessionDocument(store, id, { format, raw: false });
  return cleanDocument(document, { name: id, mark: true, registry });
}

/** With token ids and everything that was said, marked as such. Errors: NOT_FOUND, UNSUPPORTED format. */
export function rawExport(store: Store, id: string, format: string): Record<string, unknown> {
  return sessionDocument(store, id, { format, raw: true });
}

/** Not cleaned: what a cleaned copy is made of, or (raw) with the exact tokens and marked. Errors: NOT_FOUND, UNSUPPORTED format. */
export function sessionDocument(
  store: Store,
  id: string,
  options: { format: string; raw: boolean },
): Record<string, unknown> {
  if (options.format !== 'atif' && options.format !== 'native')
    throw new TackroomError(
      'UNSUPPORTED',
      `Sessions cannot be exported as ${options.format}.`,
      'Use --format atif or native.',
    );
  const recorder = new Recorder(store);
  const transcript = recorder.sessionTranscript(id);
  if (!transcript)
    throw new TackroomError('NOT_FOUND', `There is no session ${id}.`, 'List them with `tackroom sessions list`.');
  const tokens = options.raw ? (requestId: string) => recorder.requestTokens(requestId) : undefined;
  const workspace = workspaceOf(store, id);
  const input = {
    ...sessionInputOf(transcript, toolsOf(store, recorder, id), tokens),
    ...(transcript.session.cwd && { cwd: transcript.session.cwd }),
    ...(workspace && { workspace }),
  };
  if (options.format === 'atif') return { ...toAtif(input, { mode: options.raw ? 'raw' : 'published' }) };
  return options.raw ? { ...input, extra: UNSANITIZED } : { ...input };
}

function toolsOf(store: Store, recorder: Recorder, sessionId: string): ToolDefinition[] {
  const request = store.request.list({ where: { sessionId } }).find((r) => r.toolsHash !== null);
  return request?.toolsHash ? (recorder.messages.tools(request.toolsHash) ?? []) : [];
}
