/** The filtered, paged list of sessions, and what is said of one that is not in it. */
import type { CallArgs, CallOutput } from '../../contract/api.js';
import { TackroomError } from '../../contract/errors.js';
import type { Session } from '../../contract/records.js';
import { storedVerdicts } from '../sanitize/review/verdict-store.js';
import { sessionsContaining } from '../store/search.js';
import type { Store } from '../store/store.js';

type Filter = CallArgs<'sessions.list'>;

export const noSession = (): TackroomError =>
  new TackroomError('NOT_FOUND', 'This session is not in the store.', 'It may have been deleted; go back to the list.');

/** Newest first. Filters with an index page in the database; search (also in what was said), "blocked only" and verdicts
 * read the matching rows. */
export function listSessions(store: Store, filter: Filter): CallOutput<'sessions.list'> {
  const where: Record<string, string> = {};
  if (filter.harness) where.harness = filter.harness;
  if (filter.origin) where.origin = filter.origin;
  const words = (filter.search ?? '').toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0 && !filter.blockedOnly && !filter.clean) {
    const sessions = store.session.list({ where, orderBy: 'updatedAt', limit: filter.limit, offset: filter.offset });
    return { total: store.session.count({ where }), sessions };
  }
  const said = sessionsContaining(store.db, filter.search ?? '');
  const verdicts = filter.clean ? storedVerdicts(store) : null;
  const matching = store.session
    .list({ where, orderBy: 'updatedAt' })
    .filter(({ id }) => !verdicts || (verdicts.get(id)?.summary.verdict ?? 'unknown') === filter.clean)
    .filter((session) => !(filter.blockedOnly && session.blocked === 0))
    .filter((session) => said.has(session.id) || matches(session, words));
  return { total: matching.length, sessions: matching.slice(filter.offset, filter.offset + filter.limit) };
}

/** What is known of a session beside what was said in it. */
function matches(session: Session, words: string[]): boolean {
  const text =
    `${session.title} ${session.model} ${session.harness} ${session.id} ${session.harnessSessionId ?? ''}`.toLowerCase();
  return words.every((word) => text.includes(word));
}
