import { useEffect } from 'react';
import { CleanList } from '../parts/clean-list.js';
import { CleanRulesPanel } from '../parts/clean-rules-panel.js';
import { Problem } from '../parts/problem.js';
import { useCleanList } from '../stores/clean-list.js';
import { S } from '../strings.js';

export function CleanScreen() {
  const { error, load } = useCleanList();
  useEffect(() => void load(), [load]);
  return (
    <div className="screen">
      <header className="screen-head">
        <div>
          <h1>{S.clean.title}</h1>
          <p className="muted">{S.clean.lead}</p>
        </div>
      </header>
      <div className="clean">
        <section aria-label={S.clean.sessions}>
          {error ? <Problem error={error} onRetry={() => void load()} /> : <CleanList />}
        </section>
        <aside className="guard-side">
          <CleanRulesPanel />
        </aside>
      </div>
    </div>
  );
}
