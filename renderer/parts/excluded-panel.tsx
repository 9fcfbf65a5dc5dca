import { type FormEvent, useId, useState } from 'react';
import type { RecordingState } from '../../contract/recording.js';
import { useRecording } from '../stores/recording.js';
import { S } from '../strings.js';
import { Panel } from './panel.js';

/** Folders in which nothing is recorded. */
export function ExcludedPanel({ state: { settings, inExcluded } }: { state: RecordingState }) {
  const { busy, change } = useRecording();
  const [folder, setFolder] = useState('');
  const id = useId();
  const add = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    if (await change({ exclude: folder.trim() })) setFolder('');
  };
  return (
    <Panel title={S.recording.excluded}>
      <p className="muted">{S.recording.excludedText}</p>
      {settings.excluded.length === 0 ? (
        <p className="faint">{S.recording.noneExcluded}</p>
      ) : (
        <ul className="rows">
          {settings.excluded.map((dir) => (
            <li key={dir} className="row">
              <code className="row-title">{dir}</code>
              <button
                type="button"
                className="button"
                disabled={busy}
                aria-label={`${S.recording.include}: ${dir}`}
                onClick={() => void change({ include: dir })}
              >
                {S.recording.include}
              </button>
            </li>
          ))}
        </ul>
      )}
      {inExcluded > 0 && <p className="recording-note">{S.recording.inExcluded(inExcluded)}</p>}
      <form className="recording-form" onSubmit={(event) => void add(event)}>
        <label htmlFor={id}>{S.recording.folder}</label>
        <input
          id={id}
          type="text"
          required
          spellCheck={false}
          autoComplete="off"
          placeholder={S.recording.folderHint}
          value={folder}
          onChange={(event) => setFolder(event.target.value)}
        />
        <button type="submit" className="button" disabled={busy || folder.trim() === ''}>
          {S.recording.exclude}
        </button>
      </form>
    </Panel>
  );
}
