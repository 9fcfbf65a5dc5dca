import { type FormEvent, useState } from 'react';
import type { CallInput } from '../../contract/api.js';
import { useCleanList } from '../stores/clean-list.js';
import { S } from '../strings.js';
import { Dialog } from './dialog.js';
import { TextField } from './text-field.js';

type Does = CallInput<'clean.addRule'>['do'];
const DOES = Object.keys(S.clean.ruleKinds) as Does[];

/** A rule of the user's own for all sessions. */
export function CleanRuleDialog({ onClose }: { onClose(): void }) {
  const { busy, addRule } = useCleanList();
  const [does, setDoes] = useState<Does>('redact');
  const [name, setName] = useState('');
  const [value, setValue] = useState('');
  const add = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    if (await addRule({ do: does, name: does === 'keep' ? 'keep' : name, value })) onClose();
  };
  return (
    <Dialog title={S.clean.ruleTitle} onClose={onClose}>
      <form onSubmit={(event) => void add(event)}>
        <div className="dialog-body clean-form">
          <fieldset className="side-choices">
            <legend>{S.clean.ruleDoes}</legend>
            {DOES.map((one) => (
              <label key={one}>
                <input type="radio" name="does" checked={does === one} onChange={() => setDoes(one)} />
                {S.clean.ruleKinds[one]}
              </label>
            ))}
          </fieldset>
          {does !== 'keep' && (
            <TextField
              label={S.clean.ruleName}
              hint={does === 'deny' ? undefined : S.clean.alwaysNameHelp}
              value={name}
              required
              onChange={setName}
            />
          )}
          <TextField
            label={does === 'pattern' ? S.clean.rulePattern : S.clean.ruleValue}
            hint={does === 'pattern' ? S.clean.rulePatternHelp : undefined}
            value={value}
            required
            onChange={setValue}
          />
        </div>
        <div className="dialog-actions">
          <button type="button" className="button" onClick={onClose}>
            {S.cancel}
          </button>
          <button type="submit" className="button button-primary" disabled={busy}>
            {S.clean.ruleAdd}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
