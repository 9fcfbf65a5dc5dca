import { formatCount, formatShort } from '../logic/format.js';
import { useConnection } from '../stores/connection.js';
import { useHome } from '../stores/home.js';
import { S } from '../strings.js';
import { Link } from './link.js';
import { RecordingStatus } from './recording-status.js';

const CONNECTION_TONE = { connecting: 'warn', open: 'good', lost: 'bad', 'signed-out': 'bad' } as const;
const ENGINE_TONE = { up: 'good', training: 'live', down: 'bad' } as const;

/** One line at the bottom of every screen: the connection, the engine, the gateway, the running job. */
export function StatusBar() {
  const connection = useConnection((state) => state.state);
  const home = useHome((store) => store.state);
  return (
    <footer className="status-bar">
      <span role="status" className="status-item">
        <i className={`dot dot-${CONNECTION_TONE[connection]}`} />
        {S.connection[connection]}
      </span>
      {home && (
        <>
          <span className="status-item">
            <i className={`dot dot-${ENGINE_TONE[home.engine.state]}`} />
            {S.home.engine} {S.engine.states[home.engine.state]}
            {home.engine.model && <span className="faint"> · {home.engine.model.id}</span>}
            {home.engine.tokensPerSecond > 0 && (
              <span className="faint">
                {' '}
                · {S.engine.perSecond(formatCount(Math.round(home.engine.tokensPerSecond)))}
              </span>
            )}
          </span>
          <span className="status-item">
            <i className={`dot dot-${home.gateway.state === 'up' ? 'good' : 'bad'}`} />
            {S.engine.gateway} {home.gateway.port === null ? S.engine.gatewayDown : `127.0.0.1:${home.gateway.port}`}
            {home.gateway.requests > 0 && <span className="faint"> · {formatShort(home.gateway.requests)}</span>}
          </span>
          {home.job && (
            <Link to={{ screen: 'run', id: home.job.id }} className="status-item status-job">
              <i className="dot dot-live" />
              {home.job.name} {home.job.step}/{home.job.steps}
            </Link>
          )}
        </>
      )}
      <RecordingStatus />
    </footer>
  );
}
