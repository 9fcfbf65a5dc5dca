import type { GuardSettingsView } from '../../contract/guard-calls.js';
import { useGuard } from '../stores/guard.js';
import { S } from '../strings.js';
import { JudgeForm } from './judge-form.js';
import { Panel } from './panel.js';

interface RadiosProps<T extends string> {
  legend: string;
  value: T;
  options: Readonly<Record<T, string>>;
  disabled: boolean;
  onChange(value: T): void;
}

function Radios<T extends string>({ legend, value, options, disabled, onChange }: RadiosProps<T>) {
  return (
    <fieldset className="side-choices" disabled={disabled}>
      <legend>{legend}</legend>
      {(Object.keys(options) as T[]).map((option) => (
        <label key={option}>
          <input type="radio" name={legend} checked={option === value} onChange={() => onChange(option)} />
          <span>{options[option]}</span>
        </label>
      ))}
    </fieldset>
  );
}

/** Each choice counts at once, from the gateway's next check on. */
export function GuardSettingsPanel({ settings }: { settings: GuardSettingsView }) {
  const { busy, configure } = useGuard();
  return (
    <Panel title={S.guard.settings}>
      <div className="side-form">
        <Radios
          legend={S.guard.profile}
          value={settings.profile}
          options={S.guard.profiles}
          disabled={busy}
          onChange={(profile) => void configure({ profile })}
        />
        <Radios
          legend={S.guard.blocked}
          value={settings.blocked}
          options={S.guard.blockedForms}
          disabled={busy}
          onChange={(blocked) => void configure({ blocked })}
        />
        <JudgeForm key={JSON.stringify(settings.judge)} judge={settings.judge} />
      </div>
    </Panel>
  );
}
