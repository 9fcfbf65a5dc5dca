import { type FormEvent, useState } from 'react';
import { ruleName } from '../logic/clean.js';
import { visibleText } from '../logic/visible-text.js';
import { useClean } from '../stores/clean.js';
import { S } from '../strings.js';
import { Dialog } from './dialog.js';
import { TextField } from './text-field.js';
import type { CleanTarget } from './use-clean-target.js';

/** What holds for all sessions is asked for once more. */
export function CleanAlwaysDialog({ target, onClose }: { target: CleanTarget; onClose(): void }) {
  const { busy, decide } = useClean();
  const isText = 'text' in target;
  const [as, setAs] = useState<'redact' | 'keep'>('redact');
  const [name, setName] = useState(isText ? 'marked' : ruleName(target.family));
  const about = isText ? { text: target.text, partial: target.partial } : { kind: target.kind };
  const confirm = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    if (await decide({ do: 'always', as, about, name })) onClose();
  };
  return (
    <Dialog title={S.clean.alwaysTitle} onClose={onClose}>
      <form onSubmit={(event) => void confirm(event)}>
        <div className="dialog-body clean-form">
          <pre className="clean-context">{isText ? visibleText(target.text) : target.placeholder}</pre>
          {!isText && (
            <fieldset className="side-choices">
              <legend>{S.clean.ruleDoes}</legend>
              {(['redact', 'keep'] as const).map((one) => (
                <label key={one}>
                  <input type="radio" name="as" checked={as === one} onChange={() => setAs(one)} />
                  {S.clean.alwaysAs[one]}
                </label>
              ))}
            </fieldset>
          )}
          {as === 'redact' && (
            <TextField
              label={S.clean.alwaysName}
              hint={S.clean.alwaysNameHelp}
              value={name}
              required
              onChange={setName}
            />
          )}
          <p className="muted">{S.clean.alwaysText}</p>
        </div>
        <div className="dialog-actions">
          <button type="button" className="button" onClick={onClose}>
            {S.cancel}
          </button>
          <button type="submit" className="button button-primary" disabled={busy}>
            {S.clean.alwaysNow}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
