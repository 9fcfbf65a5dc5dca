import type { EngineView, GatewayView } from '../../contract/views.js';
import { formatBytes, formatCount, formatShort } from '../logic/format.js';
import { S } from '../strings.js';
import { Facts } from './facts.js';
import { Panel } from './panel.js';
import { Pill, type Tone } from './pill.js';

const TONES: Record<EngineView['state'], Tone> = { up: 'good', training: 'live', down: 'bad' };

/** The process that answers and trains, and the proxy in front of it. */
export function EnginePanel({ engine, gateway }: { engine: EngineView; gateway: GatewayView }) {
  const { model } = engine;
  const pill = (
    <Pill tone={TONES[engine.state]} dot>
      {S.engine.states[engine.state]}
    </Pill>
  );
  return (
    <Panel title={S.home.engine} aside={pill}>
      {engine.reason && <p className="muted">{engine.reason}</p>}
      {model && (
        <Facts
          rows={[
            [S.engine.model, <code key="id">{model.id}</code>],
            [S.engine.size, `${S.engine.parameters(formatShort(model.parameters))} · ${formatBytes(model.bytes)}`],
            [S.engine.context, S.engine.tokens(formatCount(model.contextLength))],
            [S.engine.speed, S.engine.perSecond(formatCount(Math.round(engine.tokensPerSecond)))],
            [S.engine.kernels, `${engine.kernels} · ${S.engine.threads(engine.threads)}`],
            [S.engine.queue, S.engine.queueText(engine.running, engine.queued)],
            [S.engine.memory, formatBytes(engine.rssBytes)],
          ]}
        />
      )}
      <Facts
        rows={[
          [
            S.engine.gateway,
            gateway.port === null ? (
              (gateway.reason ?? S.engine.gatewayDown)
            ) : (
              <code key="url">{`http://127.0.0.1:${gateway.port}`}</code>
            ),
          ],
        ]}
      />
    </Panel>
  );
}
