import { useEffect } from 'react';
import { AllowancesPanel } from '../parts/allowances-panel.js';
import { GuardFilters } from '../parts/guard-filters.js';
import { GuardLog } from '../parts/guard-log.js';
import { GuardPluginsPanel } from '../parts/guard-plugins-panel.js';
import { GuardSettingsPanel } from '../parts/guard-settings-panel.js';
import { Problem } from '../parts/problem.js';
import { useGuard } from '../stores/guard.js';
import { useGuardLog } from '../stores/guard-log.js';
import { S } from '../strings.js';

export function GuardScreen() {
  const { settings, error, load } = useGuard();
  const log = useGuardLog();
  useEffect(() => void load(), [load]);
  useEffect(() => void log.load(), [log.load]);
  return (
    <div className="screen">
      <header className="screen-head">
        <div>
          <h1>{S.guard.title}</h1>
          <p className="muted">{S.guard.lead}</p>
        </div>
        <GuardFilters />
      </header>
      <div className="guard">
        <section className="guard-log" aria-label={S.guard.log}>
          {log.error ? <Problem error={log.error} onRetry={() => void log.load()} /> : <GuardLog />}
        </section>
        <aside className="guard-side">
          {error && <Problem error={error} onRetry={() => void load()} />}
          {settings && <GuardSettingsPanel settings={settings} />}
          {settings && <GuardPluginsPanel settings={settings} />}
          <AllowancesPanel />
        </aside>
      </div>
    </div>
  );
}
