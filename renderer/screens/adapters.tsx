import { useEffect, useState } from 'react';
import type { AdapterView } from '../../contract/views.js';
import { AdapterTable } from '../parts/adapter-table.js';
import { Command } from '../parts/command.js';
import { DeploymentsPanel } from '../parts/deployments-panel.js';
import { Empty } from '../parts/empty.js';
import { Problem } from '../parts/problem.js';
import { SwapDialog } from '../parts/swap-dialog.js';
import { useAdapters } from '../stores/adapters.js';
import { S } from '../strings.js';

export function AdaptersScreen() {
  const { adapters, deployments, error, load } = useAdapters();
  const [swapping, setSwapping] = useState<AdapterView | null>(null);
  useEffect(() => void load(), [load]);
  return (
    <div className="screen">
      <header className="screen-head">
        <h1>{S.adapters.title}</h1>
      </header>
      {error && <Problem error={error} onRetry={() => void load()} />}
      {!error && adapters === null && <p className="muted">{S.loading}</p>}
      {adapters && <DeploymentsPanel deployments={deployments} />}
      {adapters?.length === 0 && (
        <Empty title={S.adapters.emptyTitle}>
          <p>{S.adapters.emptyText}</p>
          <Command text={S.adapters.importCommand} />
        </Empty>
      )}
      {adapters && adapters.length > 0 && <AdapterTable adapters={adapters} onSwap={setSwapping} />}
      {swapping && <SwapDialog view={swapping} deployments={deployments} onClose={() => setSwapping(null)} />}
    </div>
  );
}
