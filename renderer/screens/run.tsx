import { useEffect } from 'react';
import { useAction } from '../parts/actions.js';
import { EvaluationTable } from '../parts/evaluation-table.js';
import { Link } from '../parts/link.js';
import { Problem } from '../parts/problem.js';
import { RolloutTable } from '../parts/rollout-table.js';
import { RunCharts } from '../parts/run-charts.js';
import { RunHead } from '../parts/run-head.js';
import { RunSetup } from '../parts/run-setup.js';
import { RunToolbar } from '../parts/run-toolbar.js';
import { useRun } from '../stores/run.js';
import { useRunView } from '../stores/run-view.js';
import { S } from '../strings.js';

const SMOOTHING_STEPS = [0, 0.3, 0.6, 0.8, 0.9];

export function RunScreen({ id }: { id: string }) {
  const { detail, error, open } = useRun();
  const { follow, setSmoothing } = useRunView.getState();
  useEffect(() => {
    follow();
    void open(id);
  }, [open, follow, id]);
  useAction('follow', follow);
  useAction('reset', follow);
  useAction('smooth', () => {
    const now = useRunView.getState().smoothing;
    setSmoothing(SMOOTHING_STEPS.find((step) => step > now + 0.01) ?? 0);
  });
  if (error) return <Problem error={error} onRetry={() => void open(id)} />;
  if (!detail || detail.run.id !== id) return <p className="screen muted">{S.loading}</p>;
  return (
    <div className="screen screen-run">
      <nav className="crumbs" aria-label={S.runs.title}>
        <Link to={{ screen: 'runs' }}>{S.runs.title}</Link>
      </nav>
      <RunHead detail={detail} />
      <RunToolbar />
      <RunCharts steps={detail.steps} evaluations={detail.evaluations} />
      <EvaluationTable evaluations={detail.evaluations} bestCheckpointId={detail.run.bestCheckpointId} />
      <RolloutTable runId={id} summary={detail.rollouts} />
      <RunSetup config={detail.run.config} />
    </div>
  );
}
