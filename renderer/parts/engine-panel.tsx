import type { EngineView, GatewayView } from '../../contract/views.js';
import { formatAge, formatBytes, formatCount, formatHash, formatShort } from '../logic/format.js';
import { S } from '../strings.js';
import { Facts } from './facts.js';
import { Panel } from './panel.js';
import { Pill, type Tone } from './pill.js';
import { Progress } from './progress.js';

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
            [S.engine.size, `${S.engine.parameters(formatShort(model.parameters))} · ${model.architecture}`],
            [S.engine.weights, `${formatBytes(model.bytes)} · ${model.quantisation}`],
            [S.engine.precision, S.engine.precisions(model)],
            [S.engine.context, S.engine.tokens(formatCount(model.contextLength))],
            [S.engine.contexts, <ContextMemory key="kv" kv={engine.kv} />],
            [S.engine.memory, formatBytes(engine.rssBytes)],
            [S.engine.adapters, <AdapterUse key="adapters" use={engine.adapterUse} total={engine.adapters} />],
            [S.engine.queue, S.engine.queueText(engine, formatAge)],
            [
              S.engine.speed,
              S.engine.speeds(
                formatCount(Math.round(engine.tokensPerSecond)),
                formatCount(Math.round(engine.prefillTokensPerSecond)),
              ),
            ],
            [S.engine.kernels, `${engine.kernels} · ${S.engine.threads(engine.threads)}`],
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

/** Keys and values: of running requests, kept for later ones, and what is set aside for both. */
function ContextMemory({ kv }: { kv: EngineView['kv'] }) {
  const { runningBytes, cacheBytes, limitBytes } = kv;
  return (
    <>
      {S.engine.contextsText(formatBytes(runningBytes), formatBytes(cacheBytes), formatBytes(limitBytes))}
      <Progress done={runningBytes + cacheBytes} total={limitBytes} label={S.engine.contextsLabel} />
    </>
  );
}

function AdapterUse({ use, total }: { use: EngineView['adapterUse']; total: number }) {
  if (use.length === 0) return <span className="muted">{S.engine.noAdapters}</span>;
  return (
    <ul className="adapter-use">
      {use.map(({ hash, running, dropped }) => (
        <li key={hash}>
          <code>{formatHash(hash)}</code> <span className="faint">{S.engine.adapterRunning(running, dropped)}</span>
        </li>
      ))}
      {total > use.length && <li className="faint">{S.engine.moreAdapters(total - use.length)}</li>}
    </ul>
  );
}
