import type { Run } from '../../contract/records.js';
import { ema } from '../logic/ema.js';
import { formatAge, formatFixed } from '../logic/format.js';
import { useClock } from '../stores/clock.js';
import { S } from '../strings.js';
import { Command } from './command.js';
import { Link } from './link.js';
import { Panel } from './panel.js';
import { Progress } from './progress.js';
import { RunStatus } from './run-status.js';
import { Sparkline } from './sparkline.js';

const SMOOTHING = 0.6;

/** The run that is going on: how far, how long still, and what it waits for. */
export function JobPanel({ job, rewards }: { job: Run | null; rewards: readonly number[] }) {
  const now = useClock((state) => state.now);
  if (!job)
    return (
      <Panel title={S.home.job}>
        <p className="muted">
          {S.home.noJob} {S.home.noJobHint}
        </p>
        <Command text={S.home.jobCommand} />
      </Panel>
    );
  const smooth = ema(rewards, SMOOTHING).filter((value) => value !== null);
  const left = job.etaMs === null ? null : formatAge(job.etaMs);
  return (
    <Panel title={S.home.job} aside={<RunStatus status={job.status} />}>
      <p className="job-name">
        <Link to={{ screen: 'run', id: job.id }}>{job.name}</Link>
      </p>
      <Progress done={job.step} total={job.steps} label={S.run.step(job.step, job.steps)} />
      <p className="job-line">
        <span>{S.run.step(job.step, job.steps)}</span>
        {left && <span>{S.run.eta(left, left)}</span>}
        <span className="faint">{S.run.age(formatAge(now - job.updatedAt))}</span>
      </p>
      {job.waitingFor && <p className="muted">{S.run.waiting(job.waitingFor)}</p>}
      {rewards.length > 1 && (
        <>
          <Sparkline values={smooth} label={S.home.rewardLabel(smooth.length, formatFixed(smooth.at(-1)))} />
          <p className="spark-caption">
            <span>{S.home.rewardCaption(smooth.length)}</span>
            <span className="num">{S.home.rewardFromTo(formatFixed(smooth[0]), formatFixed(smooth.at(-1)))}</span>
          </p>
        </>
      )}
    </Panel>
  );
}
