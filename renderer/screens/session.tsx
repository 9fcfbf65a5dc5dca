import { useEffect } from 'react';
import { formatCount, formatDate } from '../logic/format.js';
import { harnessName } from '../logic/harness-name.js';
import { moveRow, useAction } from '../parts/actions.js';
import { CleanVerdictPill } from '../parts/clean-verdict-pill.js';
import { Link } from '../parts/link.js';
import { Pill } from '../parts/pill.js';
import { Problem } from '../parts/problem.js';
import { TranscriptStepView } from '../parts/transcript-step.js';
import { useStepInView } from '../parts/use-step-in-view.js';
import { WorkspacePanel } from '../parts/workspace-panel.js';
import { useCleanVerdicts } from '../stores/clean-verdicts.js';
import { useSession } from '../stores/session.js';
import { useWorkspace } from '../stores/workspace.js';
import { S } from '../strings.js';

/** `request`: the step to show, once it is read. */
export function SessionScreen({ id, request }: { id: string; request: string | undefined }) {
  const { session, steps, totalSteps, error, expanded, open, more, toggleExpanded } = useSession();
  const openWorkspace = useWorkspace((state) => state.open);
  useEffect(() => void open(id), [open, id]);
  // Beside the session, not after it: what is above the steps should not move them.
  useEffect(() => void openWorkspace(id), [openWorkspace, id]);
  const clean = useCleanVerdicts((state) => state.verdicts[id]);
  const showVerdict = useCleanVerdicts((state) => state.show);
  useEffect(() => showVerdict([id]), [showVerdict, id]);
  useStepInView(request);
  useAction('fold', toggleExpanded);
  useAction('next', () => moveRow(1, '[data-step]'));
  useAction('previous', () => moveRow(-1, '[data-step]'));
  useAction('blocked', () => moveRow(1, '[data-blocked]'));
  if (error) return <Problem error={error} onRetry={() => void open(id)} />;
  if (!session || session.id !== id) return <p className="screen muted">{S.loading}</p>;
  return (
    <div className="screen screen-session">
      <nav className="crumbs" aria-label={S.sessions.title}>
        <Link to={{ screen: 'sessions' }}>{S.sessions.title}</Link>
      </nav>
      <header className="screen-head">
        <div>
          <h1>{session.title || S.sessions.untitled}</h1>
          <p className="muted head-facts">
            <span>{harnessName(session)}</span>
            <span title={session.source && S.session.importedFrom(session.source.path)}>
              {S.origin[session.origin]}
            </span>
            <code>{session.model}</code>
            <span>{formatDate(session.createdAt)}</span>
            <span>{`${formatCount(session.requests)} ${S.session.facts.requests.toLowerCase()}`}</span>
            <span>{S.home.calls(session.toolCalls)}</span>
            {clean?.verdict && <CleanVerdictPill verdict={clean.verdict} stale={clean.stale} />}
            <Link to={{ screen: 'clean-session', id }}>{S.clean.openReview}</Link>
            {session.blocked > 0 && <Pill tone="bad">{S.sessions.blocked(session.blocked)}</Pill>}
          </p>
        </div>
        <div className="head-actions">
          {session.blocked > 0 && (
            <button type="button" className="button" onClick={() => moveRow(1, '[data-blocked]')}>
              {S.session.nextBlocked} <kbd>b</kbd>
            </button>
          )}
          <button type="button" className="button" onClick={toggleExpanded} aria-pressed={expanded}>
            {expanded ? S.session.foldAll : S.session.expandAll} <kbd>o</kbd>
          </button>
        </div>
      </header>
      <WorkspacePanel id={id} expanded={expanded} />
      <ol className="transcript">
        {steps.map((step, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a transcript only grows; its place is what identifies a step
          <TranscriptStepView key={i} step={step} expanded={expanded} />
        ))}
      </ol>
      {steps.length < totalSteps && (
        <button type="button" className="button" onClick={() => void more()}>
          {S.session.loadMore(totalSteps - steps.length)}
        </button>
      )}
    </div>
  );
}
