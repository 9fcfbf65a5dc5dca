import type { AdapterView } from '../../contract/views.js';
import { formatBytes, formatHash, formatShare } from '../logic/format.js';
import { S } from '../strings.js';
import { Link } from './link.js';
import { Pill } from './pill.js';

/** All adapters with where each was learned and whom it answers. */
export function AdapterTable({ adapters, onSwap }: { adapters: AdapterView[]; onSwap(view: AdapterView): void }) {
  const columns = S.adapters.columns;
  return (
    <div className="table-scroll">
      <table className="table">
        <thead>
          <tr>
            <th>{columns.name}</th>
            <th>{columns.provenance}</th>
            <th className="num">{columns.pass1}</th>
            <th className="num">{columns.rank}</th>
            <th className="num">{columns.size}</th>
            <th>{columns.hash}</th>
            <th>{columns.serves}</th>
            <th>
              <span className="hidden">{S.adapters.swap}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {adapters.map((view) => (
            <AdapterRow key={view.adapter.id} view={view} onSwap={onSwap} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function AdapterRow({ view, onSwap }: { view: AdapterView; onSwap(view: AdapterView): void }) {
  const { adapter, runName, step, servedTo } = view;
  return (
    <tr>
      <td>
        <span className="strong">{adapter.name}</span>
        <span className="sub faint">{adapter.baseModel}</span>
      </td>
      <td>
        {adapter.runId && runName ? (
          <Link to={{ screen: 'run', id: adapter.runId }}>{runName}</Link>
        ) : (
          <span className="muted">{S.adapters.imported}</span>
        )}
        {step !== null && <span className="faint"> · {S.adapters.atStep(step)}</span>}
      </td>
      <td className="num strong">{formatShare(adapter.pass1)}</td>
      <td className="num">{adapter.rank}</td>
      <td className="num">{formatBytes(adapter.bytes)}</td>
      <td>
        <code title={adapter.hash}>{formatHash(adapter.hash)}</code>
      </td>
      <td>
        {servedTo.map((harness) => (
          <Pill key={harness} tone="brass" dot>
            {S.harness[harness]}
          </Pill>
        ))}
      </td>
      <td className="num">
        <button
          type="button"
          className="button"
          data-row
          onClick={() => onSwap(view)}
          aria-label={`${S.adapters.swap} ${adapter.name}`}
        >
          {S.adapters.swap}
        </button>
      </td>
    </tr>
  );
}
