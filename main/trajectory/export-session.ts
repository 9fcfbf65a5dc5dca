/** A recorded session as a document for others: sanitized ATIF, or (raw) with the exact tokens for this machine only. */
import { TackroomError } from '../../contract/errors.js';
import type { ToolDefinition } from '../engine/protocol.js';
import { Recorder } from '../record/recorder.js';
import { workspaceOf } from '../record/workspace/workspace-store.js';
import { sanitizeSession } from '../sanitize/sanitize.js';
import type { Store } from '../store/store.js';
import { sessionInputOf } from './from-transcript.js';
import { toAtif } from './to-atif.js';

export interface ExportOptions {
  format: string;
  raw: boolean;
}

/** Errors: NOT_FOUND, UNSUPPORTED format, REFUSED when the second scan of the cleaned copy still finds something. */
export function exportSession(store: Store, id: string, options: ExportOptions): unknown {
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
    ...(workspace && { workspace }),
  };
  const document: unknown =
    options.format === 'atif' ? toAtif(input, { mode: options.raw ? 'raw' : 'published' }) : input;
  if (options.raw) return document;
  const { records, withheld } = sanitizeSession([document]);
  if (withheld.length > 0)
    throw new TackroomError(
      'REFUSED',
      `The cleaned copy of ${id} still looks as if it held something private.`,
      'Look at it with `tackroom sessions show`; --raw writes a local file.',
    );
  return records[0];
}

function toolsOf(store: Store, recorder: Recorder, sessionId: string): ToolDefinition[] {
  const request = store.request.list({ where: { sessionId } }).find((r) => r.toolsHash !== null);
  return request?.toolsHash ? (recorder.messages.tools(request.toolsHash) ?? []) : [];
}
