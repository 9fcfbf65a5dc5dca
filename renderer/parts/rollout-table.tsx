import { useEffect } from 'react';
import type { RunDetail } from '../../contract/views.js';
import { formatCount, formatDuration, formatFixed } from '../logic/format.js';
import { useRollouts } from '../stores/rollouts.js';
import { S } from '../strings.js';
import { Link } from './link.js';
import { Panel } from './panel.js';
import { Problem } from './problem.js';

/** The newest rollouts, each with the session it can be read in. */
export function RolloutTable({ runId, summary }: { runId: string; summary: RunDetail['rollouts'] }) {
  const { rollouts, error, load } = useRollouts();
  useEffect(() => void load(runId), [load, runId]);
  const columns = S.run.rolloutColumns;
  const refresh = (
    <button type="button" className="button button-quiet" onClick={() => void load(runId)}>
      {S.run.refresh}
    </button>
  );
  return (
    <Panel title={S.run.rollouts} aside={refresh}>
      <p className="muted" data-testid="rollout-summary">
        {summary.total ? S.run.rolloutSummary(summary.total, summary.unscored) : S.run.noRollouts}
      </p>
      {error && <Problem error={error} />}
      {rollouts && rollouts.length > 0 && (
        <div className="table-scroll table-short">
          <table className="table">
            <thead>
              <tr>
                <th className="num">{S.run.columns.step}</th>
                <th>{columns.phase}</th>
                <th>{columns.task}</th>
                <th className="num">{columns.reward}</th>
                <th className="num">{columns.calls}</th>
                <th className="num">{columns.blocked}</th>
                <th className="num">{columns.tokens}</th>
                <th className="num">{columns.time}</th>
                <th>{columns.finish}</th>
              </tr>
            </thead>
            <tbody>
              {rollouts.map((rollout) => (
                <tr key={rollout.id}>
                  <td className="num">{rollout.step}</td>
                  <td className="muted">{rollout.phase}</td>
                  <td>
                    {rollout.sessionId ? (
                      <Link
                        to={{ screen: 'session', id: rollout.sessionId }}
                        label={`${S.run.openSession}: ${rollout.taskId}`}
                      >
                        <code>{rollout.taskId}</code>
                      </Link>
                    ) : (
                      <code>{rollout.taskId}</code>
                    )}
                  </td>
                  <td className="num">{rollout.reward === null ? S.run.unscored : formatFixed(rollout.reward)}</td>
                  <td className="num">{rollout.calls}</td>
                  <td className={rollout.blocked ? 'num bad' : 'num faint'}>{rollout.blocked}</td>
                  <td className="num">{formatCount(rollout.promptTokens + rollout.completionTokens)}</td>
                  <td className="num">{formatDuration(rollout.seconds * 1000)}</td>
                  <td className="muted">{rollout.error ?? rollout.finish}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Panel>
  );
}
