import type { CleanState } from '../../contract/clean-calls.js';
import { formatAge } from '../logic/format.js';
import { useClean } from '../stores/clean.js';
import { S } from '../strings.js';
import { Progress } from './progress.js';

/** What is waited for, how far it is, and the way out. */
export function CleanWait({ working }: { working: Extract<CleanState, { state: 'working' }> }) {
  const cancel = useClean((state) => state.cancel);
  const { phase, done, total, ms } = working;
  return (
    <div className="clean-wait" role="status">
      <p>
        {S.clean.phases[phase]} {ms > 2000 && <span className="faint">{S.clean.waited(formatAge(ms))}</span>}
      </p>
      <Progress done={done} total={total} label={S.clean.phases[phase]} />
      <button type="button" className="button" onClick={() => void cancel()}>
        {S.clean.cancel}
      </button>
    </div>
  );
}
