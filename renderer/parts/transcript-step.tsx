import { memo } from 'react';
import type { AgentStep, TranscriptStep } from '../../contract/transcript.js';
import { formatClock, formatCount, formatDuration, formatHash } from '../logic/format.js';
import { S } from '../strings.js';
import { FoldedText } from './folded-text.js';
import { Pill } from './pill.js';
import { ToolCallView } from './tool-call.js';

/** A system prompt says the same in every session: a few lines are enough to recognise it. */
const SYSTEM_LINES = 3;

interface StepProps {
  step: TranscriptStep;
  expanded: boolean;
}

/** One step of a session; again only when it changed, since transcripts are long. */
export const TranscriptStepView = memo(function TranscriptStepView({ step, expanded }: StepProps) {
  if (step.kind === 'rewrite') return <li className="step step-rewrite">{S.session.rewrite(step.kept)}</li>;
  const { kind, text, clipped, at } = step;
  return (
    <li
      className={`step step-${kind}`}
      data-step
      data-request={step.kind === 'agent' ? step.requestId : null}
      tabIndex={-1}
    >
      <div className="step-who">
        <strong>{S.session[kind]}</strong>
        {step.kind === 'user' && step.mark && <Pill>{S.session.mark[step.mark]}</Pill>}
        {at !== null && <time dateTime={new Date(at).toISOString()}>{formatClock(at)}</time>}
      </div>
      <div className="step-body">
        {text !== '' && (
          <FoldedText
            text={text}
            expanded={expanded}
            clipped={clipped}
            lines={kind === 'system' ? SYSTEM_LINES : undefined}
          />
        )}
        {step.kind === 'agent' && (
          <>
            {text === '' && step.calls.length === 0 && <p className="faint">{step.error ?? S.session.emptyAnswer}</p>}
            {step.calls.map((call) => (
              <ToolCallView key={call.callId} call={call} expanded={expanded} />
            ))}
          </>
        )}
      </div>
      <div className="step-meta">{step.kind === 'agent' && <AgentMeta step={step} />}</div>
    </li>
  );
});

function AnsweredBy({ step }: { step: AgentStep }) {
  if (step.upstream !== null) return <span className="faint">{S.session.upstream}</span>;
  if (step.synthetic) return null;
  return step.adapterHash ? <code>{formatHash(step.adapterHash)}</code> : <span className="faint">{S.baseModel}</span>;
}

function AgentMeta({ step }: { step: AgentStep }) {
  if (step.requestId === null) return <span className="faint">{S.session.before}</span>;
  return (
    <>
      <span>{formatDuration(step.durationMs)}</span>
      <span>{S.session.promptTokens(formatCount(step.promptTokens))}</span>
      <span>{S.session.completionTokens(formatCount(step.completionTokens))}</span>
      <AnsweredBy step={step} />
      {step.status !== 'ok' && <Pill tone="bad">{step.status}</Pill>}
      {step.finish === 'length' && <Pill tone="warn">{step.finish}</Pill>}
      {step.synthetic && <Pill tone="warn">{S.session.synthetic}</Pill>}
      {step.auxiliary && <Pill>{S.session.purpose[step.purpose ?? 'main']}</Pill>}
      {step.purpose === 'subagent' && <Pill>{S.session.purpose.subagent}</Pill>}
    </>
  );
}
