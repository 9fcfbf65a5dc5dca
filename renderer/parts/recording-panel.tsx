import { formatAge } from '../logic/format.js';
import { useClock } from '../stores/clock.js';
import { pauseOf, useRecording } from '../stores/recording.js';
import { S } from '../strings.js';
import { Panel } from './panel.js';
import { Pill } from './pill.js';

/** Whether it records, and the ways to change that. */
export function RecordingPanel() {
  const { state, busy, change } = useRecording();
  const now = useClock((clock) => clock.now);
  const pause = pauseOf(state, now);
  const button = (text: string, minutes: number | null) => (
    <button type="button" className="button" disabled={busy} onClick={() => void change({ pause: { minutes } })}>
      {text}
    </button>
  );
  return (
    <Panel
      title={S.recording.state}
      aside={
        <Pill tone={pause ? 'warn' : 'good'} dot>
          {pause ? S.recording.paused : S.recording.on}
        </Pill>
      }
    >
      <p className="muted">{pause ? S.recording.pausedText : S.recording.onText}</p>
      {pause && (
        <p role="status">
          {pause.left === null ? S.recording.pausedOpen : S.recording.pausedFor(formatAge(pause.left))}
        </p>
      )}
      <div className="recording-actions">
        {pause && (
          <button
            type="button"
            className="button button-primary"
            disabled={busy}
            onClick={() => void change({ pause: null })}
          >
            {S.recording.resume}
          </button>
        )}
        {!pause && button(S.recording.pause30, 30)}
        {!(pause && pause.left === null) && button(S.recording.pause, null)}
      </div>
    </Panel>
  );
}
