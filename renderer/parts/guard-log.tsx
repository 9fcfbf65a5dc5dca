import { useState } from 'react';
import type { GuardEntry } from '../../contract/guard-calls.js';
import { useGuardLog } from '../stores/guard-log.js';
import { S } from '../strings.js';
import { Empty } from './empty.js';
import { GuardEntryView } from './guard-entry.js';
import { WrongDialog } from './wrong-dialog.js';

/** What the guard found, a page at a time. */
export function GuardLog() {
  const { entries, more, filter, older } = useGuardLog();
  const [asked, setAsked] = useState<GuardEntry | null>(null);
  if (entries === null) return <p className="muted">{S.loading}</p>;
  if (entries.length === 0)
    return (
      <Empty title={S.guard.emptyTitle}>
        <p>{Object.values(filter).some(Boolean) ? S.guard.emptyFiltered : S.guard.emptyText}</p>
      </Empty>
    );
  return (
    <>
      <ol className="findings">
        {entries.map((entry) => (
          <GuardEntryView key={entry.verdict.id} entry={entry} onWrong={setAsked} />
        ))}
      </ol>
      {more && (
        <button type="button" className="button" onClick={() => void older()}>
          {S.guard.older}
        </button>
      )}
      {asked && <WrongDialog entry={asked} onClose={() => setAsked(null)} />}
    </>
  );
}
