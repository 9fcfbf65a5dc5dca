import { useState } from 'react';
import type { DeploymentView } from '../../contract/views.js';
import { formatDate, formatHash, formatShare } from '../logic/format.js';
import { useAdapters } from '../stores/adapters.js';
import { tell } from '../stores/notices.js';
import { S } from '../strings.js';
import { Confirm } from './confirm.js';
import { Panel } from './panel.js';

type Change = { kind: 'rollback' | 'base'; view: DeploymentView };

/** Who is answered by what, with the ways back. */
export function DeploymentsPanel({ deployments }: { deployments: DeploymentView[] }) {
  const [change, setChange] = useState<Change | null>(null);
  return (
    <Panel title={S.adapters.serving}>
      {deployments.length === 0 && <p className="muted">{S.adapters.none}</p>}
      {deployments.length > 0 && (
        <ul className="rows">
          {deployments.map((view) => (
            <li key={view.harness} className="row" data-testid={`serving-${view.harness}`}>
              <span className="serving-harness">{S.harness[view.harness]}</span>
              <span className="row-title">
                <span className="strong">{view.adapterName ?? S.baseModel}</span>
                {view.deployment.adapterHash && (
                  <code className="faint"> {formatHash(view.deployment.adapterHash)}</code>
                )}
              </span>
              {view.pass1 !== null && <span className="num">{formatShare(view.pass1)}</span>}
              <span className="faint">{S.adapters.since(formatDate(view.deployment.createdAt))}</span>
              <span className="row-actions">
                <button
                  type="button"
                  className="button"
                  onClick={() => setChange({ kind: 'rollback', view })}
                  aria-label={`${S.adapters.rollback}: ${S.harness[view.harness]}`}
                >
                  {S.adapters.rollback}
                </button>
                <button
                  type="button"
                  className="button"
                  disabled={view.adapterName === null}
                  onClick={() => setChange({ kind: 'base', view })}
                  aria-label={`${S.adapters.useBase}: ${S.harness[view.harness]}`}
                >
                  {S.adapters.useBase}
                </button>
              </span>
            </li>
          ))}
        </ul>
      )}
      {change && <ConfirmChange change={change} onClose={() => setChange(null)} />}
    </Panel>
  );
}

function ConfirmChange({ change: { kind, view }, onClose }: { change: Change; onClose(): void }) {
  const { busy, swap, rollback } = useAdapters();
  const name = S.harness[view.harness];
  const confirm = async (): Promise<void> => {
    const done = kind === 'base' ? await swap(view.harness, null) : await rollback(view.harness);
    const answering = useAdapters.getState().deployments.find(({ harness }) => harness === view.harness);
    if (done) tell(S.adapters.swapped(name, answering?.adapterName ?? S.baseModel));
    onClose();
  };
  return (
    <Confirm
      title={kind === 'base' ? S.adapters.baseTitle(name) : S.adapters.rollbackTitle(name)}
      action={kind === 'base' ? S.adapters.useBase : S.adapters.rollback}
      disabled={busy}
      onConfirm={() => void confirm()}
      onClose={onClose}
    >
      <p>{kind === 'base' ? S.adapters.baseText : S.adapters.rollbackText}</p>
    </Confirm>
  );
}
