import { useEffect } from 'react';
import { ExcludedPanel } from '../parts/excluded-panel.js';
import { LimitsPanel } from '../parts/limits-panel.js';
import { Panel } from '../parts/panel.js';
import { Problem } from '../parts/problem.js';
import { RecordingPanel } from '../parts/recording-panel.js';
import { StoredPanel } from '../parts/stored-panel.js';
import { useRecording } from '../stores/recording.js';
import { S } from '../strings.js';

export function RecordingScreen() {
  const { state, error, busy, load, change } = useRecording();
  useEffect(() => void load(), [load]);
  return (
    <div className="screen">
      <header className="screen-head">
        <div>
          <h1>{S.recording.title}</h1>
          <p className="muted">{S.recording.lead}</p>
        </div>
      </header>
      {error && <Problem error={error} onRetry={() => void load()} />}
      {!error && state === null && <p className="muted">{S.loading}</p>}
      {state && (
        <div className="recording-grid">
          <RecordingPanel />
          <StoredPanel state={state} />
          <ExcludedPanel state={state} />
          <LimitsPanel key={`${state.settings.maxAgeDays} ${state.settings.maxBytes}`} settings={state.settings} />
          <Panel title={S.recording.workspace}>
            <label className="recording-consent">
              <input
                type="checkbox"
                checked={state.settings.workspace}
                disabled={busy}
                onChange={(event) => void change({ workspace: event.target.checked })}
              />
              {S.recording.consent}
            </label>
            <p className="muted">{S.recording.consentText}</p>
          </Panel>
        </div>
      )}
    </div>
  );
}
