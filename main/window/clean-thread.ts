/** The thread that looks at a session and keeps what it found for as long as it is on screen. */
import { join } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import { CLEAN_PAGE, type CleanKind, type CleanRecord, MAX_KINDS } from '../../contract/clean-calls.js';
import { TackroomError, toErrorShape } from '../../contract/errors.js';
import { recordView } from '../sanitize/review/record-view.js';
import { DENY_SHOWN, type Review, reviewRecords } from '../sanitize/review/review.js';
import { isLow } from '../sanitize/review/verdict.js';
import { openStore } from '../store/store.js';
import { type SessionRecords, sessionRecords } from '../trajectory/session-records.js';
import type { FromThread, Opened, ThreadCalls, ToThread } from './clean-protocol.js';

const PROGRESS_MS = 100;

const port = parentPort!;
const { home } = workerData as { home: string };
const store = openStore(home);

interface Held {
  sessionId: string;
  session: SessionRecords;
  review: Review;
  kinds: CleanKind[];
}
let held: Held | null = null;

const say = (message: FromThread): void => port.postMessage(message);
let saidAt = 0;
let saidPhase = '';

function open({ sessionId, policy, fresh }: ThreadCalls['open']['input']): Opened {
  say({ phase: 'read', done: 0, total: 1 });
  const session = !fresh && held?.sessionId === sessionId ? held.session : sessionRecords(store, sessionId);
  const review = reviewRecords(session.lines, {
    policy,
    images: session.images,
    folder: join(home, 'run'),
    onProgress(phase, done, total) {
      const now = performance.now();
      if (phase === saidPhase && now - saidAt < PROGRESS_MS) return;
      saidAt = now;
      saidPhase = phase;
      say({ phase, done, total });
    },
  });
  const own = new Set(policy.rules.entities.map(({ name }) => name));
  const kinds = review.kinds.map(
    ({ family, certainty, placeholder, count }, kind): CleanKind => ({
      kind,
      family,
      certainty,
      // Nothing stands in the place of what servers encrypted.
      placeholder: placeholder || `(${family})`,
      count,
      low: isLow({ family, certainty }) && !policy.confirmed.includes(family),
      own: own.has(family) || family.startsWith(DENY_SHOWN),
    }),
  );
  held = { sessionId, session, review, kinds };
  // Those in doubt are never among the ones left out.
  const sent = [...kinds.filter(({ low }) => low), ...kinds.filter(({ low }) => !low)].slice(0, MAX_KINDS);
  sent.sort((one, other) => one.kind - other.kind);
  return { summary: review.summary, kinds: sent, hiddenKinds: kinds.length - sent.length };
}

const kindsOf = (records: readonly CleanRecord[], kinds: readonly CleanKind[]): CleanKind[] =>
  [...new Set(records.flatMap(({ places }) => places.map(({ kind }) => kind)))].map((kind) => kinds[kind]!);

function mustHold(): Held {
  if (!held) throw new TackroomError('NOT_FOUND', 'This session was not looked at yet.', 'Open it again.');
  return held;
}

function records({ only, kind, offset }: ThreadCalls['records']['input']): ThreadCalls['records']['output'] {
  const { session, review, kinds } = mustHold();
  const { lines } = session;
  const wanted = kind === undefined ? review.places : review.places.filter((place) => place.kind === kind);
  const numbers =
    only === 'all' && kind === undefined ? lines.map((_, i) => i) : [...new Set(wanted.map(({ record }) => record))];
  const page = numbers.slice(offset, offset + CLEAN_PAGE);
  const shown = page.map((record) => recordView(lines, review, record, false));
  return { total: numbers.length, records: shown, kinds: kindsOf(shown, kinds) };
}

function answer(message: ToThread): ThreadCalls[keyof ThreadCalls]['output'] {
  if (message.name === 'open') return open(message.input);
  if (message.name === 'records') return records(message.input);
  const { session, review, kinds } = mustHold();
  if (message.name === 'record') {
    if (message.input.record >= session.lines.length)
      throw new TackroomError('NOT_FOUND', 'The session has no such record.');
    const record = recordView(session.lines, review, message.input.record, true);
    return { record, kinds: kindsOf([record], kinds) };
  }
  const found = review.kinds[message.input.kind];
  if (!found) throw new TackroomError('NOT_FOUND', 'There is no such finding any more.', 'Open the session again.');
  return { family: found.family, value: Buffer.from(found.value, 'latin1').toString('utf8') };
}

port.on('message', (message: ToThread) => {
  const { call } = message;
  try {
    say({ call, output: answer(message) });
  } catch (error) {
    say({ call, error: toErrorShape(error) });
  }
});
