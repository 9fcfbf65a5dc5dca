import { type FormEvent, useState } from 'react';
import type { GuardSettingsView, PluginView } from '../../contract/guard-calls.js';
import { useGuard } from '../stores/guard.js';
import { S } from '../strings.js';
import { Panel } from './panel.js';
import { Pill } from './pill.js';

const TONE = { ready: 'good', changed: 'warn', missing: 'bad' } as const;

/** Rules of the user's own: which files, and whether they still are what was added. */
export function GuardPluginsPanel({ settings }: { settings: GuardSettingsView }) {
  const { busy, configure, addPlugin } = useGuard();
  const [path, setPath] = useState('');
  const add = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    if (await addPlugin(path.trim())) setPath('');
  };
  return (
    <Panel title={S.guard.plugins}>
      <div className="side-form">
        <p className="faint">{S.guard.pluginsHelp}</p>
        {settings.plugins.length > 0 && (
          <ul className="side-rows">
            {settings.plugins.map((plugin) => (
              <PluginRow key={plugin.path} plugin={plugin} />
            ))}
          </ul>
        )}
        <form className="side-inline" onSubmit={(event) => void add(event)}>
          <input
            type="text"
            required
            maxLength={4096}
            value={path}
            aria-label={S.guard.pluginPath}
            placeholder={S.guard.pluginExample}
            onChange={(event) => setPath(event.target.value)}
          />
          <button type="submit" className="button" disabled={busy}>
            {S.guard.addPlugin}
          </button>
        </form>
        <label className="field">
          <input
            type="checkbox"
            checked={settings.pluginsInRollouts}
            disabled={busy}
            onChange={(event) => void configure({ pluginsInRollouts: event.target.checked })}
          />
          <span>{S.guard.pluginsInRollouts}</span>
        </label>
      </div>
    </Panel>
  );
}

function PluginRow({ plugin: { path, state } }: { plugin: PluginView }) {
  const { busy, addPlugin, removePlugin } = useGuard();
  return (
    <li>
      <div className="side-row-head">
        <code className="side-path">{path}</code>
        <Pill tone={TONE[state]} dot>
          {S.guard.pluginStates[state]}
        </Pill>
      </div>
      <div className="side-actions">
        {state === 'changed' && (
          <button
            type="button"
            className="button"
            disabled={busy}
            aria-label={S.guard.addAgainLabel(path)}
            onClick={() => void addPlugin(path)}
          >
            {S.guard.addAgain}
          </button>
        )}
        <button
          type="button"
          className="button button-quiet"
          disabled={busy}
          aria-label={S.guard.removeLabel(path)}
          onClick={() => void removePlugin(path)}
        >
          {S.guard.removePlugin}
        </button>
      </div>
    </li>
  );
}
