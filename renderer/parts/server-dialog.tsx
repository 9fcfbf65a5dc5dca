import { type FormEvent, useId, useState } from 'react';
import type { HarnessView, ServerView } from '../../contract/connect-calls.js';
import { useConnect } from '../stores/connect.js';
import { tell } from '../stores/notices.js';
import { S } from '../strings.js';
import { Dialog } from './dialog.js';
import { TextField } from './text-field.js';

type Api = NonNullable<ServerView['api']> | 'same';
const APIS: Api[] = ['same', 'chat', 'responses', 'messages'];

/** Which server answers an agent. The key can be written, never read. */
export function ServerDialog({ view, onClose }: { view: HarnessView; onClose(): void }) {
  const { harness, server } = view;
  const { busy, change } = useConnect();
  const [kind, setKind] = useState<'engine' | 'other'>(server ? 'other' : 'engine');
  const [baseUrl, setBaseUrl] = useState(server?.baseUrl ?? '');
  const [api, setApi] = useState<Api>(server?.api ?? 'same');
  const [model, setModel] = useState(server?.model ?? '');
  const [key, setKey] = useState('');
  const apiId = useId();
  const words = S.connect.serverDialog;
  const name = S.harness[harness];
  const save = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    const done =
      kind === 'engine'
        ? await change('connect.forgetServer', { harness })
        : await change('connect.setServer', {
            harness,
            baseUrl: baseUrl.trim(),
            api: api === 'same' ? null : api,
            model: model.trim() || null,
            key: key || null,
          });
    if (!done) return;
    tell(kind === 'engine' ? words.engineAgain(name) : words.saved(name));
    onClose();
  };
  return (
    <Dialog title={words.title(name)} onClose={onClose}>
      <form onSubmit={(event) => void save(event)}>
        <div className="dialog-body">
          <fieldset className="choices">
            {(['engine', 'other'] as const).map((choice) => (
              <label key={choice}>
                <input
                  type="radio"
                  name="kind"
                  value={choice}
                  checked={choice === kind}
                  onChange={() => setKind(choice)}
                />
                {words[choice]}
              </label>
            ))}
          </fieldset>
          {kind === 'engine' && server && <p>{words.forget}</p>}
          {kind === 'other' && (
            <>
              <TextField
                label={words.address}
                hint={words.addressHint}
                type="url"
                value={baseUrl}
                required
                onChange={setBaseUrl}
              />
              <div className="text-field">
                <label htmlFor={apiId}>{words.api}</label>
                <select id={apiId} value={api} onChange={(event) => setApi(event.target.value as Api)}>
                  {APIS.map((choice) => (
                    <option key={choice} value={choice}>
                      {words.apis[choice]}
                    </option>
                  ))}
                </select>
              </div>
              <TextField label={words.model} hint={words.modelHint} value={model} onChange={setModel} />
              <TextField
                label={words.key}
                hint={server && server.key.from !== 'none' ? words.keyKept : words.keyNew}
                type="password"
                value={key}
                onChange={setKey}
              />
            </>
          )}
        </div>
        <div className="dialog-actions">
          <button type="button" className="button" onClick={onClose}>
            {S.cancel}
          </button>
          <button type="submit" className="button button-primary" disabled={busy}>
            {words.save}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
