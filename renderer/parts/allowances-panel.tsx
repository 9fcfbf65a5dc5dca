import { useState } from 'react';
import type { AllowanceView } from '../../contract/guard-calls.js';
import { formatDate } from '../logic/format.js';
import { readableArguments } from '../logic/tool-arguments.js';
import { useGuard } from '../stores/guard.js';
import { tell } from '../stores/notices.js';
import { S } from '../strings.js';
import { Confirm } from './confirm.js';
import { FoldedText } from './folded-text.js';
import { Panel } from './panel.js';

const CALL_LINES = 2;

/** What the user lets pass, with a way back. */
export function AllowancesPanel() {
  const { allowances, busy, revoke } = useGuard();
  const [asked, setAsked] = useState<AllowanceView | null>(null);
  const confirm = async (): Promise<void> => {
    if (asked && (await revoke(asked.id))) tell(S.guard.revoked);
    setAsked(null);
  };
  return (
    <Panel title={S.guard.allowances}>
      {allowances.length === 0 && <p className="muted">{S.guard.noAllowances}</p>}
      <ul className="side-rows">
        {allowances.map((one) => (
          <li key={one.id}>
            <div className="side-row-head">
              <code className="finding-rule">{one.rule}</code>
              <button
                type="button"
                className="button button-quiet"
                aria-label={S.guard.revokeLabel(one.rule, one.tool)}
                onClick={() => setAsked(one)}
              >
                {S.guard.revoke}
              </button>
            </div>
            {one.arguments === null ? (
              <p className="faint">{S.guard.goneCall}</p>
            ) : (
              <FoldedText
                text={`${one.tool} ${readableArguments(one.arguments)}`}
                expanded={false}
                lines={CALL_LINES}
                className="mono"
              />
            )}
            <time className="faint" dateTime={new Date(one.createdAt).toISOString()}>
              {formatDate(one.createdAt)}
            </time>
          </li>
        ))}
      </ul>
      {asked && (
        <Confirm
          title={S.guard.revokeTitle}
          action={S.guard.revoke}
          disabled={busy}
          onConfirm={() => void confirm()}
          onClose={() => setAsked(null)}
        >
          <p>{S.guard.revokeText(asked.rule, asked.tool)}</p>
        </Confirm>
      )}
    </Panel>
  );
}
