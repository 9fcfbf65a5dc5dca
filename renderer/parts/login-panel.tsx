import type { ConnectState } from '../../contract/connect-calls.js';
import { useConnect } from '../stores/connect.js';
import { S } from '../strings.js';
import { Panel } from './panel.js';

/** Whether the gateway starts when the user logs in. */
export function LoginPanel({ item }: { item: ConnectState['loginItem'] }) {
  const { busy, change } = useConnect();
  const words = S.connect.login;
  return (
    <Panel title={words.title}>
      {!item && <p className="muted">{words.unavailable}</p>}
      {item && (
        <>
          <label className="switch">
            <input
              type="checkbox"
              role="switch"
              aria-checked={item.on}
              checked={item.on}
              disabled={busy}
              onChange={(event) => void change('connect.setLoginItem', { on: event.target.checked })}
            />
            {words.label}
          </label>
          <p className="muted">{words.text}</p>
          {item.on && item.place && <p className="faint connect-place">{words.place(item.place)}</p>}
        </>
      )}
    </Panel>
  );
}
