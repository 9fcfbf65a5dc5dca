import type { CleanState } from '../../contract/clean-calls.js';
import { useClean } from '../stores/clean.js';
import { S } from '../strings.js';
import { CleanVerdictPill } from './clean-verdict-pill.js';

/** What is said of the copy, why, and what can be done about it. */
export function CleanVerdictPanel({ id, ready }: { id: string; ready: Extract<CleanState, { state: 'ready' }> }) {
  const { grown, busy, working, decide, open } = useClean();
  const { verdict, reasons, lookedAt, records, touched, places, values } = ready.summary;
  return (
    <section className={`panel clean-verdict clean-verdict-${verdict}`} aria-label={S.clean.why}>
      <div className="clean-verdict-text">
        <p className="clean-verdict-head">
          <CleanVerdictPill verdict={verdict} />
          <span className="faint">{S.clean.facts(records, touched, places, values)}</span>
        </p>
        {reasons.length === 0 ? (
          <p>{S.clean.fine(places)}</p>
        ) : (
          <ul>
            {reasons.map((reason) => (
              <li key={`${reason.code} ${reason.detail}`}>{S.clean.reason(reason)}</li>
            ))}
            {lookedAt && <li>{S.clean.lookedAt}</li>}
          </ul>
        )}
      </div>
      <div className="clean-verdict-actions">
        {grown && (
          <button type="button" className="button" onClick={() => void open(id)}>
            {S.clean.grown} {S.clean.again}
          </button>
        )}
        {verdict === 'review' && (
          <button
            type="button"
            className="button button-primary"
            title={S.clean.lookedHelp}
            disabled={busy || working !== null}
            onClick={() => void decide({ do: 'looked', version: ready.version })}
          >
            {S.clean.looked}
          </button>
        )}
      </div>
    </section>
  );
}
