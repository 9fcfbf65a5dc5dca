import type { DecisionView } from '../../contract/clean-calls.js';
import { visibleLine } from '../logic/visible-text.js';
import { S } from '../strings.js';

interface DecisionsProps {
  decisions: readonly DecisionView[];
  busy: boolean;
  onUndo(id: string): void;
}

const SHOWN_CHARS = 120;
const shown = (text: string): string => {
  const line = visibleLine(text);
  return line.length > SHOWN_CHARS ? `${line.slice(0, SHOWN_CHARS)}…` : line;
};

/** Decisions with the way back. */
export function CleanDecisions({ decisions, busy, onUndo }: DecisionsProps) {
  if (decisions.length === 0) return <p className="muted">{S.clean.noDecisions}</p>;
  return (
    <ul className="side-rows">
      {decisions.map((decision) => {
        const { what, value } = S.clean.decision(decision, shown);
        return (
          <li key={decision.id}>
            <div className="side-row-head">
              <span>{what}</span>
              <button
                type="button"
                className="button"
                aria-label={S.clean.undoLabel(what, value)}
                disabled={busy}
                onClick={() => onUndo(decision.id)}
              >
                {S.clean.undo}
              </button>
            </div>
            {value && <code className="side-path">{value}</code>}
          </li>
        );
      })}
    </ul>
  );
}
