import { useState } from 'react';
import type { CanaryView } from '../../contract/clean.js';
import { useClean } from '../stores/clean.js';
import { S } from '../strings.js';
import { CleanRuleDialog } from './clean-rule-dialog.js';
import { Panel } from './panel.js';

/** How much of what was planted goes, and what to do about the rest. */
export function CleanCanaryPanel({ canary }: { canary: CanaryView | null }) {
  const [adding, setAdding] = useState(false);
  const { id, open } = useClean();
  const close = (): void => {
    setAdding(false);
    if (id !== null) void open(id);
  };
  if (!canary)
    return (
      <Panel title={S.clean.canary}>
        <p className="muted">{S.clean.canaryNone}</p>
      </Panel>
    );
  const { known, unknown, kinds } = canary;
  const share = ({ gone, planted }: { gone: number; planted: number }): string => S.clean.share(gone, planted);
  return (
    <Panel title={S.clean.canary}>
      <p className="strong">{S.clean.canaryScore(share(known), share(unknown))}</p>
      <p className="muted clean-note">{S.clean.canaryText}</p>
      <details className="clean-details">
        <summary>{S.clean.canaryKinds}</summary>
        <ul>
          {kinds.map((kind) => (
            <li key={kind.label} className={kind.gone < kind.planted ? undefined : 'faint'}>
              <span className="num">{share(kind)}</span> {kind.label}
            </li>
          ))}
        </ul>
      </details>
      <button type="button" className="button" onClick={() => setAdding(true)}>
        {S.clean.addRule}
      </button>
      {adding && <CleanRuleDialog onClose={close} />}
    </Panel>
  );
}
