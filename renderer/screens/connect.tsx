import { useEffect } from 'react';
import { HarnessPanel } from '../parts/harness-panel.js';
import { LoginPanel } from '../parts/login-panel.js';
import { Problem } from '../parts/problem.js';
import { RefusedPanel } from '../parts/refused-panel.js';
import { VaultPanel } from '../parts/vault-panel.js';
import { useConnect } from '../stores/connect.js';
import { S } from '../strings.js';

export function ConnectScreen() {
  const { state, error, load } = useConnect();
  useEffect(() => void load(), [load]);
  return (
    <div className="screen">
      <header className="screen-head">
        <div>
          <h1>{S.connect.title}</h1>
          <p className="muted">{S.connect.lead}</p>
        </div>
      </header>
      {error && <Problem error={error} onRetry={() => void load()} />}
      {!error && !state && <p className="muted">{S.loading}</p>}
      {state && (
        <>
          {state.harnesses.map((view) => (
            <HarnessPanel key={view.harness} view={view} />
          ))}
          <div className="connect-grid">
            <VaultPanel state={state} />
            <LoginPanel item={state.loginItem} />
            <RefusedPanel refused={state.refused} />
          </div>
        </>
      )}
    </div>
  );
}
