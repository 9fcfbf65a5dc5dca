/** Where sessions come from for `envs`: files of a harness, or the store. */
import { readFileSync } from 'node:fs';
import { TackroomError } from '../../contract/errors.js';
import { MessageStore } from '../record/message-store.js';
import { sessionTranscript } from '../record/transcript.js';
import type { Store } from '../store/store.js';
import { readPiSession } from './pi-session.js';
import { recordedTrace } from './recorded-session.js';
import type { SessionTrace } from './session-events.js';

/** NOT_FOUND, BAD_ARGUMENT (no session of pi). */
export function traceFromFile(path: string): SessionTrace {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    throw new TackroomError('NOT_FOUND', `The session file ${path} cannot be read.`, undefined, { cause });
  }
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

/** NOT_FOUND. */
export function traceFromStore(store: Store, sessionId: string): SessionTrace {
  const transcript = sessionTranscript(store, new MessageStore(store.db), sessionId);
  if (!transcript)
    throw new TackroomError(
      'NOT_FOUND',
      `There is no session ${sessionId}.`,
      'List them with `tackroom sessions list`.',
    );
  return recordedTrace(transcript);
}
