import { type FormEvent, useState } from 'react';
import { type JudgeSetting, MAX_JUDGE_MS } from '../../contract/guard.js';
import { useGuard } from '../stores/guard.js';
import { tell } from '../stores/notices.js';
import { S } from '../strings.js';

type Kind = keyof typeof S.guard.judges;
const KINDS: Kind[] = ['off', 'engine', 'server'];
const DEFAULT_SECONDS = 5;

const kindOf = (judge: JudgeSetting | null): Kind =>
  judge === null ? 'off' : judge.baseUrl === null ? 'engine' : 'server';

/** Kept as typed until it is saved: half an address must not count. */
export function JudgeForm({ judge }: { judge: JudgeSetting | null }) {
  const { busy, configure } = useGuard();
  const [kind, setKind] = useState(kindOf(judge));
  const [baseUrl, setBaseUrl] = useState(judge?.baseUrl ?? '');
  const [model, setModel] = useState(judge?.model ?? '');
  const [seconds, setSeconds] = useState(judge ? judge.deadlineMs / 1000 : DEFAULT_SECONDS);
  const wanted: JudgeSetting | null =
    kind === 'off'
      ? null
      : {
          baseUrl: kind === 'engine' ? null : baseUrl.trim(),
          model: kind === 'engine' ? '' : model.trim(),
          deadlineMs: Math.round(seconds * 1000),
        };
  const same = JSON.stringify(wanted) === JSON.stringify(judge);
  const save = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    if (await configure({ judge: wanted })) tell(S.guard.saved);
  };
  return (
    <form className="side-fields" onSubmit={(event) => void save(event)}>
      <label className="side-field">
        <span>{S.guard.judge}</span>
        <select value={kind} onChange={(event) => setKind(KINDS.find((one) => one === event.target.value) ?? 'off')}>
          {KINDS.map((one) => (
            <option key={one} value={one}>
              {S.guard.judges[one]}
            </option>
          ))}
        </select>
      </label>
      {kind === 'server' && (
        <>
          <label className="side-field">
            <span>{S.guard.judgeUrl}</span>
            <input
              type="url"
              required
              value={baseUrl}
              placeholder={S.guard.judgeUrlExample}
              onChange={(event) => setBaseUrl(event.target.value)}
            />
          </label>
          <label className="side-field">
            <span>{S.guard.judgeModel}</span>
            <input
              type="text"
              maxLength={200}
              value={model}
              placeholder={S.guard.judgeModelExample}
              onChange={(event) => setModel(event.target.value)}
            />
          </label>
        </>
      )}
      {kind !== 'off' && (
        <label className="side-field">
          <span>{S.guard.judgeSeconds}</span>
          <input
            type="number"
            required
            min={1}
            max={MAX_JUDGE_MS / 1000}
            value={seconds}
            onChange={(event) => setSeconds(event.target.valueAsNumber)}
          />
        </label>
      )}
      <p className="faint">{S.guard.judgeHelp}</p>
      {!same && (
        <button type="submit" className="button button-primary" disabled={busy}>
          {S.guard.save}
        </button>
      )}
    </form>
  );
}
