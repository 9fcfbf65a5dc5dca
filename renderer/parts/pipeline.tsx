import type { Run } from '../../contract/records.js';
import type { LoopCounts } from '../../contract/views.js';
import { formatCount, formatShare } from '../logic/format.js';
import type { Route } from '../logic/routes.js';
import { S } from '../strings.js';
import { Link } from './link.js';

type StageName = keyof typeof S.home.stages;

interface Stage {
  name: StageName;
  count: number;
  details: string[];
  to?: Route;
}

function stagesOf({ recorded, clean, tasks, runs, adapters }: LoopCounts): Stage[] {
  return [
    {
      name: 'recorded',
      count: recorded.sessions,
      details: [
        `${S.home.calls(recorded.toolCalls)} · ${S.home.blocked(recorded.blocked)}`,
        recorded.lastDay ? S.home.lastDay(recorded.lastDay) : S.home.rollouts(recorded.rollouts),
      ],
      to: { screen: 'sessions' },
    },
    { name: 'clean', count: clean.sessions, details: [S.home.replaced(clean.replaced)], to: { screen: 'clean' } },
    {
      name: 'tasks',
      count: tasks.kept,
      details: [
        tasks.kept ? S.home.split(tasks.train, tasks.validation, tasks.test) : S.home.noneYet,
        tasks.dropped ? S.home.dropped(tasks.dropped) : '',
      ],
    },
    {
      name: 'runs',
      count: runs.total,
      details: [
        runs.total ? S.home.running(runs.running) : S.home.noneYet,
        runs.failed ? S.home.failed(runs.failed) : '',
      ],
      to: { screen: 'runs' },
    },
    {
      name: 'adapters',
      count: adapters.total,
      details: [adapters.bestPass1 === null ? S.home.noneYet : S.home.bestPass1(formatShare(adapters.bestPass1))],
      to: { screen: 'adapters' },
    },
  ];
}

function StageBody({ stage }: { stage: Stage }) {
  return (
    <>
      <span className="stage-name">{S.home.stages[stage.name]}</span>
      <span className="stage-count" data-testid={`count-${stage.name}`}>
        {formatCount(stage.count)}
      </span>
      {stage.details.filter(Boolean).map((detail) => (
        <span key={detail} className="stage-detail">
          {detail}
        </span>
      ))}
    </>
  );
}

/** The five stages of the loop with what has passed through each; the stage at work shows how far it is. */
export function Pipeline({ counts, job }: { counts: LoopCounts; job: Run | null }) {
  return (
    <ol className="pipeline">
      {stagesOf(counts).map((stage) => (
        <li key={stage.name} className={job && stage.name === 'runs' ? 'stage stage-active' : 'stage'}>
          {stage.to ? (
            <Link to={stage.to} className="stage-body">
              <StageBody stage={stage} />
            </Link>
          ) : (
            <div className="stage-body">
              <StageBody stage={stage} />
            </div>
          )}
        </li>
      ))}
    </ol>
  );
}
