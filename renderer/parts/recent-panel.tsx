import type { Session } from '../../contract/records.js';
import { formatAge } from '../logic/format.js';
import { useClock } from '../stores/clock.js';
import { S } from '../strings.js';
import { Link } from './link.js';
import { Panel } from './panel.js';
import { Pill } from './pill.js';

/** The last sessions that a person made. */
export function RecentPanel({ sessions }: { sessions: Session[] }) {
  const now = useClock((state) => state.now);
  return (
    <Panel title={S.home.recent} aside={<Link to={{ screen: 'sessions' }}>{S.home.allSessions}</Link>}>
      {sessions.length === 0 ? (
        <p className="muted">{S.home.noneYet}</p>
      ) : (
        <ul className="rows">
          {sessions.map((session) => (
            <li key={session.id}>
              <a href={`#/sessions/${encodeURIComponent(session.id)}`} className="row" data-row>
                <span className="row-title">{session.title || S.sessions.untitled}</span>
                {session.blocked > 0 && <Pill tone="bad">{S.sessions.blocked(session.blocked)}</Pill>}
                <span className="faint">{S.harness[session.harness]}</span>
                <span className="faint row-age">{formatAge(now - session.updatedAt)}</span>
              </a>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}
