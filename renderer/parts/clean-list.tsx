import type { VerdictFilter } from '../../contract/clean-calls.js';
import { formatAge } from '../logic/format.js';
import { harnessName } from '../logic/harness-name.js';
import { useCleanList } from '../stores/clean-list.js';
import { useClock } from '../stores/clock.js';
import { S } from '../strings.js';
import { CleanVerdictPill } from './clean-verdict-pill.js';
import { Empty } from './empty.js';
import { Link } from './link.js';

const ORDER = ['review', 'blocked', 'unknown', 'pass'] as const satisfies readonly VerdictFilter[];

/** Sessions by what is said of their copies; those that wait for somebody come first. */
export function CleanList() {
  const { list, more } = useCleanList();
  if (!list) return <p className="muted">{S.loading}</p>;
  const { sessions, total } = list;
  return (
    <>
      <Tabs />
      {total === 0 ? <Nothing /> : <Rows />}
      {sessions.length < total && (
        <button type="button" className="button" onClick={() => void more()}>
          {S.clean.more}
        </button>
      )}
    </>
  );
}

function Tabs() {
  const { list, filter, busy, setFilter, checkAll, stopChecks } = useCleanList();
  if (!list) return null;
  const { counts, checking } = list;
  const all = ORDER.reduce((sum, verdict) => sum + counts[verdict], 0);
  return (
    <div className="clean-tabs">
      <fieldset aria-label={S.clean.filter}>
        <button type="button" aria-pressed={filter === undefined} onClick={() => void setFilter(undefined)}>
          {S.clean.all(all)}
        </button>
        {ORDER.map((verdict) => (
          <button key={verdict} type="button" aria-pressed={filter === verdict} onClick={() => void setFilter(verdict)}>
            {S.clean.tabs[verdict](counts[verdict])}
          </button>
        ))}
      </fieldset>
      {checking.left > 0 ? (
        <span className="clean-checking" role="status">
          <span className="muted">{S.clean.checking(checking.left)}</span>
          <button type="button" className="button" disabled={busy} onClick={() => void stopChecks()}>
            {S.clean.stopChecks}
          </button>
        </span>
      ) : (
        counts.unknown > 0 && (
          <button type="button" className="button" disabled={busy} onClick={() => void checkAll()}>
            {S.clean.checkAll}
          </button>
        )
      )}
    </div>
  );
}

function Nothing() {
  const filter = useCleanList((state) => state.filter);
  return (
    <Empty title={S.clean.emptyTitle}>
      <p>{filter ? S.clean.emptyFiltered : S.clean.emptyStore}</p>
    </Empty>
  );
}

function Rows() {
  const sessions = useCleanList((state) => state.list?.sessions) ?? [];
  const now = useClock((state) => state.now);
  return (
    <ul className="clean-list">
      {sessions.map(({ session, summary }) => (
        <li key={session.id} className="clean-item">
          <div className="clean-item-head">
            <Link to={{ screen: 'clean-session', id: session.id }} className="clean-item-title">
              {session.title || S.sessions.untitled}
            </Link>
            <CleanVerdictPill verdict={summary?.verdict ?? null} />
            <span className="faint">{harnessName(session)}</span>
            <span className="faint num">{formatAge(now - session.updatedAt)}</span>
          </div>
          {summary && (
            <p className="muted clean-item-why">
              {summary.reasons.length === 0
                ? S.clean.fine(summary.places)
                : summary.reasons.map((reason) => S.clean.reason(reason)).join(' ')}{' '}
              {summary.lookedAt && S.clean.lookedAt}
            </p>
          )}
        </li>
      ))}
    </ul>
  );
}
