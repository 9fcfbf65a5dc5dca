import { type Action, SHORTCUTS } from '../logic/shortcuts.js';
import { S } from '../strings.js';
import { Dialog } from './dialog.js';

const actions = Object.keys(SHORTCUTS) as Action[];

function Keys({ keys }: { keys: string }) {
  return (
    <span className="keys">
      {keys.split(/[ +]/).map((key) => (
        <kbd key={key}>{key}</kbd>
      ))}
    </span>
  );
}

/** All shortcuts, from the table that also drives them. */
export function Help({ onClose }: { onClose(): void }) {
  return (
    <Dialog title={S.help.title} onClose={onClose}>
      <table className="help">
        <tbody>
          {actions.map((action) => (
            <tr key={action}>
              <th scope="row">{S.help.actions[action]}</th>
              <td>
                {SHORTCUTS[action].map((keys) => (
                  <Keys key={keys} keys={keys} />
                ))}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <div className="dialog-actions">
        <button type="button" className="button" onClick={onClose}>
          {S.close}
        </button>
      </div>
    </Dialog>
  );
}
