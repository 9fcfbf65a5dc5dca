import { type FormEvent, useId, useState } from 'react';
import type { RecordingSettings } from '../../contract/recording.js';
import { formatBytes } from '../logic/format.js';
import { useRecording } from '../stores/recording.js';
import { S } from '../strings.js';
import { Confirm } from './confirm.js';
import { Panel } from './panel.js';

const MIB = 1024 * 1024;

/** Empty: null; undefined: no whole number from 1. */
const wholeNumber = (text: string): number | null | undefined => {
  if (text.trim() === '') return null;
  return /^[1-9]\d{0,7}$/.test(text.trim()) ? Number(text) : undefined;
};

/** How long and how much is kept. Tighter limits delete, so they are asked about. */
export function LimitsPanel({ settings }: { settings: RecordingSettings }) {
  const { busy, change } = useRecording();
  const [days, setDays] = useState(settings.maxAgeDays === null ? '' : String(settings.maxAgeDays));
  const [size, setSize] = useState(settings.maxBytes === null ? '' : String(Math.round(settings.maxBytes / MIB)));
  const [asking, setAsking] = useState(false);
  const maxAgeDays = wholeNumber(days);
  const mebibytes = wholeNumber(size);
  const bad = maxAgeDays === undefined || mebibytes === undefined || (maxAgeDays ?? 1) > 36_500;
  const maxBytes = mebibytes == null ? null : mebibytes * MIB;
  const apply = async (): Promise<void> => {
    setAsking(false);
    if (maxAgeDays !== undefined) await change({ maxAgeDays, maxBytes });
  };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (maxAgeDays === null && maxBytes === null) void apply();
    else setAsking(true);
  };
  return (
    <Panel title={S.recording.limits}>
      <p className="muted">{S.recording.limitsText}</p>
      <form className="recording-limits" onSubmit={submit}>
        <Limit label={S.recording.age} hint={S.recording.ageHint} value={days} onChange={setDays} />
        <Limit label={S.recording.size} hint={S.recording.sizeHint} value={size} onChange={setSize} />
        {bad && <p role="alert">{S.recording.badNumber}</p>}
        <button type="submit" className="button" disabled={busy || bad}>
          {S.recording.apply}
        </button>
      </form>
      {asking && (
        <Confirm
          title={S.recording.applyTitle}
          action={S.recording.apply}
          danger
          disabled={busy}
          onConfirm={() => void apply()}
          onClose={() => setAsking(false)}
        >
          <p>{S.recording.applyText(maxAgeDays ?? null, maxBytes === null ? null : formatBytes(maxBytes))}</p>
        </Confirm>
      )}
    </Panel>
  );
}

interface LimitProps {
  label: string;
  hint: string;
  value: string;
  onChange(value: string): void;
}

function Limit({ label, hint, value, onChange }: LimitProps) {
  const id = useId();
  return (
    <div className="recording-limit">
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        type="text"
        inputMode="numeric"
        autoComplete="off"
        aria-describedby={`${id}-hint`}
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
      <span id={`${id}-hint`} className="faint">
        {hint}
      </span>
    </div>
  );
}
