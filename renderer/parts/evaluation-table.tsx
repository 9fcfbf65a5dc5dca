import type { Evaluation } from '../../contract/records.js';
import { formatDuration, formatFixed, formatShare, formatShort } from '../logic/format.js';
import { S } from '../strings.js';
import { Panel } from './panel.js';
import { Pill } from './pill.js';

interface EvaluationTableProps {
  evaluations: Evaluation[];
  bestCheckpointId: string | null;
}

/** Every measurement of the run, the base model first. */
export function EvaluationTable({ evaluations, bestCheckpointId }: EvaluationTableProps) {
  const columns = S.run.evaluationColumns;
  const rows = [...evaluations].sort(
    (a, b) => a.split.localeCompare(b.split) * -1 || a.step - b.step || b.temperature - a.temperature,
  );
  return (
    <Panel title={S.run.evaluations}>
      {rows.length === 0 ? (
        <p className="muted">{S.run.noEvaluations}</p>
      ) : (
        <div className="table-scroll">
          <table className="table">
            <thead>
              <tr>
                <th>{columns.what}</th>
                <th>{S.run.columns.split}</th>
                <th className="num">{S.run.pass1}</th>
                <th className="num">{S.run.columns.interval}</th>
                <th className="num">{columns.calls}</th>
                <th className="num">{columns.tasks}</th>
                <th className="num">{columns.rollouts}</th>
                <th className="num">{columns.temperature}</th>
                <th className="num">{columns.tokens}</th>
                <th className="num">{columns.time}</th>
              </tr>
            </thead>
            <tbody>
              {rows.map((row) => (
                <tr key={row.id}>
                  <td>
                    {row.checkpointId === null ? S.baseModel : S.run.checkpoint(row.step)}{' '}
                    {row.checkpointId !== null && row.checkpointId === bestCheckpointId && (
                      <Pill tone="brass">{S.run.best}</Pill>
                    )}
                  </td>
                  <td className="muted">{row.split}</td>
                  <td className="num strong">{formatShare(row.pass1)}</td>
                  <td className="num muted">{`${(row.ci95[0] * 100).toFixed(1)} – ${(row.ci95[1] * 100).toFixed(1)} %`}</td>
                  <td className="num">{formatFixed(row.callsPerSolved)}</td>
                  <td className="num">{row.tasks}</td>
                  <td className="num">{row.rollouts}</td>
                  <td className="num">{formatFixed(row.temperature, 1)}</td>
                  <td className="num">{formatShort(row.tokens)}</td>
                  <td className="num">{formatDuration(row.seconds * 1000)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Panel>
  );
}
