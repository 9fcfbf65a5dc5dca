import { useEffect, useState } from 'react';
import type { ConnectHarness, ConnectPlan } from '../../contract/connect-calls.js';
import { type ErrorShape, toErrorShape } from '../../contract/errors.js';
import { ask } from '../bridge/client.js';
import { useConnect } from '../stores/connect.js';
import { tell } from '../stores/notices.js';
import { S } from '../strings.js';
import { Dialog } from './dialog.js';
import { DiffView } from './diff-view.js';
import { Problem } from './problem.js';
import { TestLine } from './test-line.js';

interface ConnectDialogProps {
  harness: ConnectHarness;
  undo: boolean;
  onClose(): void;
}

function PlanBody({ plan, undo }: { plan: ConnectPlan; undo: boolean }) {
  const { conflict, diff, notes } = plan;
  if (conflict)
    return <Problem error={{ code: 'REFUSED', message: conflict.message, hint: conflict.hint ?? undefined }} />;
  return (
    <>
      <p>{diff === '' ? S.connect.dialog.nothing : undo ? S.connect.dialog.undoLead : S.connect.dialog.lead}</p>
      {notes.map((note) => (
        <p key={note} className="connect-note">
          {note}
        </p>
      ))}
      {diff !== '' && <DiffView diff={diff} label={S.connect.dialog.diffLabel} />}
    </>
  );
}

/** Shows the exact change, makes it when told to, then sends a test call and shows how it went. */
export function ConnectDialog({ harness, undo, onClose }: ConnectDialogProps) {
  const [plan, setPlan] = useState<ConnectPlan | null>(null);
  const [error, setError] = useState<ErrorShape | null>(null);
  const [connected, setConnected] = useState(false);
  const { busy, change, test, tests } = useConnect();
  useEffect(() => {
    ask('connect.plan', { harness, undo }).then(setPlan, (thrown: unknown) => setError(toErrorShape(thrown)));
  }, [harness, undo]);
  const words = S.connect.dialog;
  const name = S.harness[harness];
  const apply = async (digest: string): Promise<void> => {
    if (!(await change('connect.apply', { harness, undo, digest }))) return onClose();
    if (undo) {
      tell(words.undone(name));
      return onClose();
    }
    setConnected(true);
    await test(harness);
  };
  return (
    <Dialog title={undo ? words.disconnectTitle(name) : words.connectTitle(name)} onClose={onClose} wide>
      <div className="dialog-body">
        {error && <Problem error={error} />}
        {!plan && !error && <p>{S.loading}</p>}
        {plan && !connected && <PlanBody plan={plan} undo={undo} />}
        {connected && (
          <>
            <p>{words.connected(name)}</p>
            <TestLine result={tests[harness]} />
          </>
        )}
      </div>
      <div className="dialog-actions">
        <button type="button" className="button" onClick={onClose}>
          {connected || plan?.conflict ? S.close : S.cancel}
        </button>
        {plan && !plan.conflict && !connected && (
          <button
            type="button"
            className={`button ${undo ? 'button-danger' : 'button-primary'}`}
            disabled={busy}
            onClick={() => void apply(plan.digest)}
          >
            {busy ? words.working : undo ? words.disconnect : words.connect}
          </button>
        )}
      </div>
    </Dialog>
  );
}
