import { useState } from 'react';
import { useCleanList } from '../stores/clean-list.js';
import { S } from '../strings.js';
import { CleanDecisions } from './clean-decisions.js';
import { CleanRuleDialog } from './clean-rule-dialog.js';
import { Panel } from './panel.js';
import { Problem } from './problem.js';

/** The user's own rules, for all sessions. */
export function CleanRulesPanel() {
  const { rules, rulesError, busy, removeRule, forgetRules, load } = useCleanList();
  const [adding, setAdding] = useState(false);
  return (
    <Panel title={S.clean.rules}>
      {rulesError ? (
        <>
          <Problem error={rulesError} onRetry={() => void load()} />
          {rulesError.code === 'VAULT_DAMAGED' && (
            <button type="button" className="button button-danger" onClick={() => void forgetRules()}>
              {S.clean.forget}
            </button>
          )}
        </>
      ) : (
        <CleanDecisions decisions={rules} busy={busy} onUndo={(id) => void removeRule(id)} />
      )}
      <p className="muted clean-note">{S.clean.rulesText}</p>
      <button type="button" className="button" onClick={() => setAdding(true)}>
        {S.clean.addRule}
      </button>
      {adding && <CleanRuleDialog onClose={() => setAdding(false)} />}
    </Panel>
  );
}
