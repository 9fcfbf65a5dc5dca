import type { GuardEntry } from '../../contract/guard-calls.js';
import { formatAge, formatDate } from '../logic/format.js';
import { readableArguments } from '../logic/tool-arguments.js';
import { useClock } from '../stores/clock.js';
import { S } from '../strings.js';
import { FoldedText } from './folded-text.js';
import { Link } from './link.js';
import { Pill } from './pill.js';

const TONE = { allow: 'quiet', suspicious: 'warn', block: 'bad' } as const;
const CALL_LINES = 6;

interface EntryProps {
  entry: GuardEntry;
  onWrong(entry: GuardEntry): void;
}

/** One finding: which rule, why, on which call, what became of it. */
export function GuardEntryView({ entry, onWrong }: EntryProps) {
  const { verdict, call, session } = entry;
  const now = useClock((state) => state.now);
  return (
    <li className={`call call-${verdict.verdict} finding`} data-row tabIndex={-1}>
      <div className="call-head">
        <Pill tone={TONE[verdict.verdict]} dot>
          {S.guard.kinds[verdict.verdict]}
        </Pill>
        <code className="finding-rule">{verdict.rule}</code>
        <span className="faint finding-how">
          {S.guard.severity(verdict.severity)} · {S.guard.stages[verdict.stage]}
        </span>
        <time
          className="faint num finding-age"
          dateTime={new Date(verdict.createdAt).toISOString()}
          title={formatDate(verdict.createdAt)}
        >
          {formatAge(now - verdict.createdAt)}
        </time>
      </div>
      <p className="call-reason">{verdict.reason}</p>
      {call ? (
        <div className="call-arguments">
          <code className="call-name">{call.name}</code>
          <FoldedText
            text={readableArguments(call.arguments)}
            expanded={false}
            lines={CALL_LINES}
            clipped={call.clipped}
          />
        </div>
      ) : (
        <p className="faint call-arguments">{S.guard.noCall}</p>
      )}
      <div className="finding-foot">
        <span className="finding-where">
          <Link
            to={{ screen: 'session', id: verdict.sessionId, request: verdict.requestId }}
            label={`${S.guard.openStep}: ${session.title}`}
          >
            {session.title || S.sessions.untitled}
          </Link>
          <span className="faint">
            {S.harness[session.harness]}
            {session.origin !== 'user' && ` · ${S.origin[session.origin]}`} · {outcome(entry)}
          </span>
        </span>
        <Answer entry={entry} onWrong={onWrong} />
      </div>
    </li>
  );
}

function outcome({ verdict }: GuardEntry): string {
  if (verdict.verdict !== 'block') return S.guard.ran;
  return verdict.served ? S.guard.gotHarmless : S.guard.gotNotice;
}

function Answer({ entry, onWrong }: EntryProps) {
  if (entry.wrong === 'yes') return <Pill tone="good">{S.guard.passes}</Pill>;
  if (entry.wrong === 'impossible' || !entry.call) return null;
  return (
    <button
      type="button"
      className="button"
      aria-label={S.guard.wrongLabel(entry.verdict.rule, entry.call.name)}
      onClick={() => onWrong(entry)}
    >
      {S.guard.wrong}
    </button>
  );
}
