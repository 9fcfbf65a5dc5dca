/**
 * Where sessions come from for `envs`: files of a harness, or the store. Tasks are built from cleaned copies, whose paths, names
 * and tokens are stand-ins that are the same in files, commands and output.
 */
import { readFileSync } from 'node:fs';
import { TackroomError } from '../../contract/errors.js';
import { MessageStore } from '../record/message-store.js';
import { sessionTranscript, type Transcript, type TranscriptStep } from '../record/transcript.js';
import type { Registry } from '../sanitize/detect/registry.js';
import { SanitizeContext, sanitizeBytes, sanitizeSession } from '../sanitize/sanitize.js';
import type { Store } from '../store/store.js';
import { readPiSession } from './pi-session.js';
import { recordedTrace } from './recorded-session.js';
import type { SessionTrace } from './session-events.js';

export interface FileOptions {
  /** Read the cleaned copy. */
  clean: boolean;
}

/** NOT_FOUND, UNSUPPORTED (no session of pi), REFUSED when the second scan of the cleaned copy still finds something. */
export function traceFromFile(path: string, { clean }: FileOptions): SessionTrace {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (cause) {
    throw new TackroomError('NOT_FOUND', `The session file ${path} cannot be read.`, undefined, { cause });
  }
  const text = (clean ? cleanFile(bytes, path) : bytes).toString();
  try {
    return readPiSession(text);
  } catch (cause) {
    throw new TackroomError(
      'UNSUPPORTED',
      `${path} is not a session file of pi, the one format that tasks are found in so far.`,
      'Record the session through Tackroom and use --session.',
      { cause },
    );
  }
}

function cleanFile(bytes: Buffer, path: string): Buffer {
  const copy = sanitizeBytes(bytes);
  refuseWithheld(copy.withheld, path);
  return copy.bytes;
}

/** The cleaned copy. NOT_FOUND, REFUSED as above. */
export function traceFromStore(store: Store, sessionId: string, registry?: Registry): SessionTrace {
  const transcript = sessionTranscript(store, new MessageStore(store.db), sessionId);
  if (!transcript)
    throw new TackroomError(
      'NOT_FOUND',
      `There is no session ${sessionId}.`,
      'List them with `tackroom sessions list`.',
    );
  return cleanTrace(transcript, { registry });
}

export interface CleanTraceOptions {
  /** Used when neither the system prompt nor the session's source names one. */
  cwd?: string;
  /** The detectors with the user's rules; absent: the detectors alone. */
  registry?: Registry;
}

/** Errors: REFUSED as above, and when a rule keeps the session in. */
export function cleanTrace({ session, steps }: Transcript, { cwd, registry }: CleanTraceOptions): SessionTrace {
  // The folder goes with the steps: commands name it, and a stand-in in it must be the one in them.
  const folder = session.source?.cwd ?? cwd ?? '/';
  const lines: ({ cwd: string } | TranscriptStep)[] = [{ cwd: folder }, ...steps];
  const { records, withheld } = sanitizeSession(lines, new SanitizeContext(), registry);
  refuseWithheld(withheld, session.id);
  const [place, ...clean] = records as [{ cwd: string }, ...TranscriptStep[]];
  return recordedTrace({ session, steps: clean }, place.cwd);
}

function refuseWithheld(withheld: readonly number[], name: string): void {
  if (withheld.length > 0)
    throw new TackroomError(
      'REFUSED',
      `The cleaned copy of ${name} still looks as if it held something private, so no task is made of it.`,
      'Look at it with `tackroom sessions show`, or leave the session out.',
    );
}
