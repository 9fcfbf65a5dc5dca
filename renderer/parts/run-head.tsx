import { useState } from 'react';
import type { RunDetail } from '../../contract/views.js';
import { etaRange } from '../logic/eta.js';
import { formatAge } from '../logic/format.js';
import { useClock } from '../stores/clock.js';
import { useRun } from '../stores/run.js';
import { S } from '../strings.js';
import { Confirm } from './confirm.js';
import { Progress } from './progress.js';
import { RunStatus } from './run-status.js';

/** Without news for this long a running run looks stuck, and says so by its colour. */
const STALE_MS = 10_000;

/** What a run is doing: name, state, how far, how long still, what it waits for, how fresh this is. */
export function RunHead({ detail }: { detail: RunDetail }) {
  const { run, steps } = detail;
  const [asking, setAsking] = useState(false);
  const { newsAt, stopping, stop } = useRun();
  const now = useClock((state) => state.now);
  const running = run.status === 'running';
  const range = etaRange(
    steps.map((step) => step.createdAt),
    run.steps - run.step,
  );
  const age = newsAt === null ? null : now - newsAt;
  return (
    <header className="run-head">
      <div className="screen-head">
        <div className="run-title">
          <h1>{run.name}</h1>
          <RunStatus status={run.status} />
        </div>
        {running && (
          <button type="button" className="button button-danger" disabled={stopping} onClick={() => setAsking(true)}>
            {stopping ? S.run.stopping : S.run.stop}
          </button>
        )}
      </div>
      <Progress done={run.step} total={run.steps} label={S.run.step(run.step, run.steps)} />
      <p className="head-facts muted">
        <span className="strong" data-testid="run-step">
          {S.run.step(run.step, run.steps)}
        </span>
        {running && range && <span>{S.run.eta(formatAge(range.lowMs), formatAge(range.highMs))}</span>}
        {running && run.waitingFor && <span>{S.run.waiting(run.waitingFor)}</span>}
        {running && age !== null && <span className={age > STALE_MS ? 'stale' : ''}>{S.run.age(formatAge(age))}</span>}
        {run.error && <span className="bad">{run.error}</span>}
      </p>
      {asking && (
        <Confirm
          title={S.run.stopTitle}
          action={S.run.stop}
          danger
          onClose={() => setAsking(false)}
          onConfirm={() => {
            setAsking(false);
            void stop();
          }}
        >
          <p>{S.run.stopText}</p>
        </Confirm>
      )}
    </header>
  );
}
