import { useEffect } from 'react';
import { Problem } from '../parts/problem.js';
import { SessionFilters } from '../parts/session-filters.js';
import { SessionTable } from '../parts/session-table.js';
import { useSessionList } from '../stores/session-list.js';
import { S } from '../strings.js';

export function SessionsScreen() {
  const { total, error, reload } = useSessionList();
  useEffect(() => reload(), [reload]);
  return (
    <div className="screen screen-list">
      <header className="screen-head">
        <div>
          <h1>{S.sessions.title}</h1>
          <p className="muted">{total === null ? S.loading : S.sessions.count(total)}</p>
        </div>
        <SessionFilters />
      </header>
      {error ? <Problem error={error} onRetry={reload} /> : <SessionTable />}
    </div>
  );
}
