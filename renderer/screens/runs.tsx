import { useEffect } from 'react';
import { formatDate, formatShare } from '../logic/format.js';
import { routeHref } from '../logic/routes.js';
import { Command } from '../parts/command.js';
import { Empty } from '../parts/empty.js';
import { Problem } from '../parts/problem.js';
import { RunStatus } from '../parts/run-status.js';
import { useRunList } from '../stores/run-list.js';
import { S } from '../strings.js';

export function RunsScreen() {
  const { runs, error, load } = useRunList();
  useEffect(() => void load(), [load]);
  const columns = S.runs.columns;
  return (
    <div className="screen">
      <header className="screen-head">
        <h1>{S.runs.title}</h1>
      </header>
      {error && <Problem error={error} onRetry={() => void load()} />}
      {!error && runs === null && <p className="muted">{S.loading}</p>}
      {runs?.length === 0 && (
        <Empty title={S.runs.emptyTitle}>
          <p>{S.runs.emptyText}</p>
          <Command text={S.home.demoCommand} />
          <Command text={S.home.jobCommand} />
        </Empty>
      )}
      {runs && runs.length > 0 && (
        <table className="table">
          <thead>
            <tr>
              <th>{columns.name}</th>
              <th>{columns.status}</th>
              <th className="num">{columns.steps}</th>
              <th className="num">{columns.base}</th>
              <th className="num">{columns.best}</th>
              <th>{columns.started}</th>
            </tr>
          </thead>
          <tbody>
            {runs.map(({ run, basePass1, bestPass1 }) => (
              <tr key={run.id}>
                <td>
                  <a href={routeHref({ screen: 'run', id: run.id })} data-row>
                    {run.name}
                  </a>
                </td>
                <td>
                  <RunStatus status={run.status} />
                </td>
                <td className="num">
                  {run.step}/{run.steps}
                </td>
                <td className="num">{formatShare(basePass1)}</td>
                <td className="num">{formatShare(bestPass1)}</td>
                <td className="faint">{formatDate(run.createdAt)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </div>
  );
}
