import { familiesOf } from '../logic/clean.js';
import { formatCount } from '../logic/format.js';
import { useClean } from '../stores/clean.js';
import { useCleanPage } from '../stores/clean-page.js';
import { tell } from '../stores/notices.js';
import { S } from '../strings.js';
import { Panel } from './panel.js';
import { Pill } from './pill.js';

const SHOWN = 40;

/** What was found by kind: a stand-in leads to the records that hold it. */
export function CleanKindsPanel() {
  const { ready, busy, working, decisions, decide } = useClean();
  const { filter, setFilter } = useCleanPage();
  if (!ready || ready.kinds.length === 0) return null;
  const isKept = (family: string): boolean =>
    decisions.some((decision) => decision.do === 'keep' && !decision.always && decision.name === family);
  const redactKind = async (family: string): Promise<void> => {
    if (await decide({ do: 'redactKind', family })) tell(S.clean.redactKindDone(family));
  };
  return (
    <Panel title={S.clean.kinds}>
      <ul className="side-rows clean-families">
        {familiesOf(ready.kinds).map(({ family, low, kinds }) => (
          <li key={family}>
            <div className="side-row-head">
              <span className="strong">{S.clean.kindsOf(family, kinds.length)}</span>
              {low && <Pill tone="warn">{S.clean.lowMark}</Pill>}
              {!low && kinds[0]?.own && <Pill tone="brass">{S.clean.ownMark}</Pill>}
            </div>
            <div className="clean-places">
              {kinds.slice(0, SHOWN).map((kind) => (
                <button
                  key={kind.kind}
                  type="button"
                  className={kind.low ? 'clean-chip clean-chip-low' : 'clean-chip'}
                  aria-pressed={filter.kind === kind.kind}
                  onClick={() =>
                    void setFilter(filter.kind === kind.kind ? { only: 'found' } : { only: 'found', kind: kind.kind })
                  }
                >
                  {kind.placeholder} <span className="num">{formatCount(kind.count)}</span>
                </button>
              ))}
              {kinds.length > SHOWN && <span className="faint">{S.clean.morePlaces(kinds.length - SHOWN)}</span>}
            </div>
            {(low || isKept(family)) && (
              <button
                type="button"
                className="button"
                aria-label={S.clean.redactKindLabel(family)}
                disabled={busy || working !== null}
                onClick={() => void redactKind(family)}
              >
                {S.clean.redactKind}
              </button>
            )}
          </li>
        ))}
      </ul>
      {ready.hiddenKinds > 0 && <p className="faint">{S.clean.hiddenKinds(ready.hiddenKinds)}</p>}
    </Panel>
  );
}
