import { useEffect, useRef, useState } from 'react';
import type { Session } from '../../contract/records.js';
import { formatAge, formatCount, formatDate } from '../logic/format.js';
import { harnessName } from '../logic/harness-name.js';
import { visibleRows } from '../logic/visible-rows.js';
import { useCleanVerdicts } from '../stores/clean-verdicts.js';
import { useClock } from '../stores/clock.js';
import { sessionAt, useSessionList } from '../stores/session-list.js';
import { S } from '../strings.js';
import { CleanVerdictPill } from './clean-verdict-pill.js';
import { Command } from './command.js';
import { Empty } from './empty.js';
import { Pill } from './pill.js';

/** Height of a row in px; styles/lists.css says the same. */
const ROW_HEIGHT = 36;

/** A list of any length: only the rows on screen exist, their pages are read as they come near. */
export function SessionTable() {
  const { total, pages, filter, show } = useSessionList();
  const view = useRef<HTMLDivElement>(null);
  const [scroll, setScroll] = useState({ top: 0, height: 800 });
  const count = total ?? 0;
  const { first, end } = visibleRows(scroll.top, scroll.height, ROW_HEIGHT, count);
  useEffect(() => {
    const element = view.current;
    if (!element) return;
    const measure = (): void => setScroll({ top: element.scrollTop, height: element.clientHeight });
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  useEffect(() => show(first, end), [show, first, end]);
  useEffect(() => {
    const rows = Array.from({ length: end - first }, (_, i) => sessionAt(pages, first + i));
    useCleanVerdicts.getState().show(rows.flatMap((session) => session?.id ?? []));
  }, [pages, first, end]);
  if (total === 0) return <NoSessions filtered={Object.values(filter).some((value) => value !== undefined)} />;
  return (
    <div className="session-table">
      <div className="session-row session-columns" aria-hidden="true">
        {Object.entries(S.sessions.columns).map(([key, label]) => (
          <span key={key} className={`col-${key}`}>
            {label}
          </span>
        ))}
      </div>
      <div
        ref={view}
        className="session-scroll"
        onScroll={(event) =>
          setScroll({ top: event.currentTarget.scrollTop, height: event.currentTarget.clientHeight })
        }
      >
        <ul ref={(list) => list?.style.setProperty('height', `${count * ROW_HEIGHT}px`)}>
          {Array.from({ length: end - first }, (_, i) => first + i).map((row) => (
            <SessionRow key={row} row={row} session={sessionAt(pages, row)} />
          ))}
        </ul>
      </div>
    </div>
  );
}

function SessionRow({ row, session }: { row: number; session: Session | undefined }) {
  const now = useClock((state) => state.now);
  const clean = useCleanVerdicts((state) => session && state.verdicts[session.id]);
  const place = (element: HTMLLIElement | null): void =>
    element?.style.setProperty('transform', `translateY(${row * ROW_HEIGHT}px)`);
  if (!session) return <li ref={place} className="session-item" aria-hidden="true" />;
  return (
    <li ref={place} className="session-item">
      <a href={`#/sessions/${encodeURIComponent(session.id)}`} className="session-row" data-row>
        <span className="col-title">
          <span className="row-title">{session.title || S.sessions.untitled}</span>
          {session.blocked > 0 && <Pill tone="bad">{S.sessions.blocked(session.blocked)}</Pill>}
        </span>
        <span className="col-harness">{harnessName(session)}</span>
        <span className="col-origin faint">{S.origin[session.origin]}</span>
        <span className="col-calls num">{formatCount(session.toolCalls)}</span>
        <span className="col-requests num">{formatCount(session.requests)}</span>
        <span className="col-clean">
          {clean?.verdict && <CleanVerdictPill verdict={clean.verdict} stale={clean.stale} />}
        </span>
        <time
          className="col-updated faint num"
          dateTime={new Date(session.updatedAt).toISOString()}
          title={formatDate(session.updatedAt)}
        >
          {formatAge(now - session.updatedAt)}
        </time>
      </a>
    </li>
  );
}

function NoSessions({ filtered }: { filtered: boolean }) {
  return (
    <Empty title={S.sessions.emptyTitle}>
      {filtered ? (
        <p>{S.sessions.emptyFiltered}</p>
      ) : (
        <>
          <p>{S.sessions.emptyStore}</p>
          <Command text={S.home.connectCommand('pi')} />
          <Command text={S.sessions.importCommand} />
        </>
      )}
    </Empty>
  );
}
