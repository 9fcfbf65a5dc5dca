import type { ConnectState } from '../../contract/connect-calls.js';
import { S } from '../strings.js';
import { Facts } from './facts.js';
import { Panel } from './panel.js';

/** Who was turned away at the ports. What they said of themselves is shown as text and believed by nobody. */
export function RefusedPanel({ refused }: Pick<ConnectState, 'refused'>) {
  const { count, last, log } = refused;
  const words = S.connect.refused;
  return (
    <Panel title={words.title}>
      <p className="muted">{count === 0 ? words.none : words.count(count)}</p>
      {last && (
        <Facts
          rows={[
            [words.last, new Date(last.at).toLocaleString()],
            [words.from, <code key="from">{last.from}</code>],
            [words.reason, words.whys[last.why]],
            [words.at, words.ports[last.port]],
            [words.log, <code key="log">{log}</code>],
          ]}
        />
      )}
    </Panel>
  );
}
