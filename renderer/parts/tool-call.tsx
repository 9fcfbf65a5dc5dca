import type { TranscriptCall } from '../../contract/transcript.js';
import { readableArguments } from '../logic/tool-arguments.js';
import { S } from '../strings.js';
import { FoldedText } from './folded-text.js';
import { Pill } from './pill.js';

const TONE = { allow: 'quiet', suspicious: 'warn', block: 'bad' } as const;

/** One tool call with the guard's verdict and what came back. */
export function ToolCallView({ call, expanded }: { call: TranscriptCall; expanded: boolean }) {
  const marked = call.verdict !== 'allow';
  return (
    <div
      className={`call call-${call.verdict}`}
      {...(call.verdict === 'block' ? { 'data-blocked': true, tabIndex: -1 } : {})}
    >
      <div className="call-head">
        <code className="call-name">{call.name}</code>
        {marked && (
          <Pill tone={TONE[call.verdict]} dot>
            {S.session.verdict[call.verdict]}
          </Pill>
        )}
        {typeof call.exitCode === 'number' && call.exitCode !== 0 && (
          <Pill tone="warn">{S.session.exitCode(call.exitCode)}</Pill>
        )}
        {call.rule && <code className="faint">{call.rule}</code>}
      </div>
      {call.reason && <p className="call-reason">{call.reason}</p>}
      <FoldedText text={readableArguments(call.arguments)} expanded={expanded} className="call-arguments" />
      {call.result === null ? (
        <p className="faint call-none">{S.session.noResult}</p>
      ) : (
        <FoldedText text={call.result} expanded={expanded} clipped={call.clipped} className="call-result" />
      )}
    </div>
  );
}
