import { useEffect } from 'react';
import { EnginePanel } from '../parts/engine-panel.js';
import { FirstSteps } from '../parts/first-steps.js';
import { JobPanel } from '../parts/job-panel.js';
import { Pipeline } from '../parts/pipeline.js';
import { Problem } from '../parts/problem.js';
import { RecentPanel } from '../parts/recent-panel.js';
import { ServingPanel } from '../parts/serving-panel.js';
import { useHome } from '../stores/home.js';
import { S } from '../strings.js';

export function HomeScreen() {
  const { state, error, load } = useHome();
  useEffect(() => void load(), [load]);
  return (
    <div className="screen">
      <header className="screen-head">
        <div>
          <h1>{S.home.title}</h1>
          <p className="muted">{S.home.lead}</p>
        </div>
      </header>
      {error && !state && <Problem error={error} onRetry={() => void load()} />}
      {!error && !state && <p className="muted">{S.loading}</p>}
      {state && (
        <>
          <Pipeline counts={state.counts} job={state.job} />
          {state.counts.recorded.sessions === 0 && state.counts.runs.total === 0 && <FirstSteps />}
          <div className="home-grid">
            <JobPanel job={state.job} rewards={state.jobRewards} />
            <EnginePanel engine={state.engine} gateway={state.gateway} />
            <RecentPanel sessions={state.recent} />
            <ServingPanel deployments={state.deployments} />
          </div>
        </>
      )}
    </div>
  );
}
