import type { GuardEntry } from '../../contract/guard-calls.js';
import { readableArguments } from '../logic/tool-arguments.js';
import { useGuard } from '../stores/guard.js';
import { tell } from '../stores/notices.js';
import { S } from '../strings.js';
import { Confirm } from './confirm.js';

/** Says what exactly will be let pass before it is. */
export function WrongDialog({ entry, onClose }: { entry: GuardEntry; onClose(): void }) {
  const { busy, wrong } = useGuard();
  const { verdict, call } = entry;
  if (!call) return null;
  const confirm = async (): Promise<void> => {
    if (await wrong(verdict.id)) tell(S.guard.passing(verdict.rule));
    onClose();
  };
  return (
    <Confirm
      title={S.guard.wrongTitle}
      action={S.guard.wrongNow}
      disabled={busy}
      onConfirm={() => void confirm()}
      onClose={onClose}
    >
      <p>{S.guard.wrongText(verdict.rule, call.name)}</p>
      <pre className="finding-call">{readableArguments(call.arguments)}</pre>
      {call.clipped > 0 && <p className="faint">{S.session.clipped(call.clipped)}</p>}
      <p>{S.guard.wrongLimits}</p>
      <p>{S.guard.wrongTest}</p>
    </Confirm>
  );
}
