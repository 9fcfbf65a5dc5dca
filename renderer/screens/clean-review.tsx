import { useEffect, useState } from 'react';
import { sameKinds } from '../logic/clean.js';
import { formatDate } from '../logic/format.js';
import { harnessName } from '../logic/harness-name.js';
import { useAction } from '../parts/actions.js';
import { CleanAlwaysDialog } from '../parts/clean-always-dialog.js';
import { CleanCanaryPanel } from '../parts/clean-canary-panel.js';
import { CleanDecisionsPanel } from '../parts/clean-decisions-panel.js';
import { CleanFindingPanel } from '../parts/clean-finding-panel.js';
import { CleanKindsPanel } from '../parts/clean-kinds-panel.js';
import { CleanRecords } from '../parts/clean-records.js';
import { CleanToolbar } from '../parts/clean-toolbar.js';
import { CleanVerdictPanel } from '../parts/clean-verdict-panel.js';
import { CleanWait } from '../parts/clean-wait.js';
import { Link } from '../parts/link.js';
import { Problem } from '../parts/problem.js';
import { type CleanTarget, useCleanTarget } from '../parts/use-clean-target.js';
import { useClean } from '../stores/clean.js';
import { useCleanPage } from '../stores/clean-page.js';
import { tell } from '../stores/notices.js';
import { S } from '../strings.js';

export function CleanReviewScreen({ id }: { id: string }) {
  const { open, error, session, ready, working, forget } = useClean();
  useEffect(() => void open(id), [open, id]);
  if (error)
    return (
      <div className="screen">
        <Crumbs />
        <h1 className="clean-title">{session?.title || S.clean.title}</h1>
        <Problem error={error} onRetry={() => void open(id)} />
        {error.code === 'VAULT_DAMAGED' && (
          <button type="button" className="button button-danger" onClick={() => void forget()}>
            {S.clean.forget}
          </button>
        )}
      </div>
    );
  if (!session || session.id !== id || !ready)
    return (
      <div className="screen">
        <Crumbs />
        <h1 className="clean-title">{session?.title || S.clean.title}</h1>
        {working ? <CleanWait working={working} /> : <p className="muted">{S.loading}</p>}
      </div>
    );
  return (
    <div className="screen">
      <Crumbs />
      <header className="screen-head">
        <div>
          <h1>{session.title || S.sessions.untitled}</h1>
          <p className="muted head-facts">
            <span>{harnessName(session)}</span>
            <span>{formatDate(session.createdAt)}</span>
            <Link to={{ screen: 'session', id }}>{S.clean.openSession}</Link>
          </p>
        </div>
      </header>
      <CleanVerdictPanel id={id} ready={ready} />
      <Review />
    </div>
  );
}

const Crumbs = () => (
  <nav className="crumbs" aria-label={S.clean.crumbs}>
    <Link to={{ screen: 'clean' }}>{S.clean.crumbs}</Link>
  </nav>
);

function Review() {
  const { ready, working, decisions, decide, undo } = useClean();
  const { step } = useCleanPage();
  const target = useCleanTarget();
  const [always, setAlways] = useState<CleanTarget | null>(null);
  const about = (one: CleanTarget) => ('text' in one ? { text: one.text, partial: one.partial } : { kind: one.kind });
  const keep = async (): Promise<void> => {
    if (target && 'kind' in target && (await decide({ do: 'keep', kind: target.kind })))
      tell(S.clean.keptDone(target.placeholder));
  };
  const redact = async (): Promise<void> => {
    if (!target || !(await decide({ do: 'redact', about: about(target) }))) return;
    const same = 'text' in target && sameKinds(ready?.kinds, useClean.getState().ready?.kinds);
    tell(same ? S.clean.nothingFound : S.clean.redactDone);
  };
  const undoLast = async (): Promise<void> => {
    const last = [...decisions].sort((a, b) => a.createdAt - b.createdAt).at(-1);
    if (last) await undo(last.id);
  };
  useAction('nextPlace', () => void step(1));
  useAction('previousPlace', () => void step(-1));
  useAction('next', () => void step(1));
  useAction('keepValue', () => void keep());
  useAction('redactAll', () => void redact());
  useAction('always', () => target && setAlways(target));
  useAction('undo', () => void undoLast());
  return (
    <>
      <CleanToolbar
        target={target}
        onKeep={() => void keep()}
        onRedact={() => void redact()}
        onAlways={() => setAlways(target)}
      />
      <div className={working ? 'clean clean-busy' : 'clean'} aria-busy={working !== null}>
        <CleanRecords />
        <aside className="guard-side clean-side">
          {working && <CleanWait working={working} />}
          <CleanFindingPanel target={target} />
          <CleanKindsPanel />
          <CleanDecisionsPanel />
          {ready && <CleanCanaryPanel canary={ready.summary.canary} />}
        </aside>
      </div>
      {always && <CleanAlwaysDialog target={always} onClose={() => setAlways(null)} />}
    </>
  );
}
