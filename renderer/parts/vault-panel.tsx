import { type FormEvent, useState } from 'react';
import type { ConnectState } from '../../contract/connect-calls.js';
import { useConnect } from '../stores/connect.js';
import { tell } from '../stores/notices.js';
import { S } from '../strings.js';
import { Command } from './command.js';
import { Panel } from './panel.js';
import { Problem } from './problem.js';
import { TextField } from './text-field.js';

function Unlock() {
  const { busy, change } = useConnect();
  const [passphrase, setPassphrase] = useState('');
  const unlock = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    const done = await change('connect.unlockVault', { passphrase });
    setPassphrase('');
    if (done) tell(S.connect.vault.unlocked);
  };
  return (
    <form className="connect-unlock" onSubmit={(event) => void unlock(event)}>
      <p className="connect-bad">{S.connect.vault.locked}</p>
      <TextField
        label={S.connect.vault.passphrase}
        type="password"
        value={passphrase}
        required
        onChange={setPassphrase}
      />
      <button type="submit" className="button button-primary" disabled={busy}>
        {S.connect.vault.unlock}
      </button>
    </form>
  );
}

/** What protects the keys of servers, and how to change that. */
export function VaultPanel({ state }: { state: Pick<ConnectState, 'vault' | 'vaultProblem' | 'keychain'> }) {
  const { busy, change } = useConnect();
  const { vault, vaultProblem, keychain } = state;
  const { protection, locked } = vault;
  const words = S.connect.vault;
  const protect = async (): Promise<void> => {
    if (await change('connect.useKeychain', {})) tell(words.keychainUsed);
  };
  return (
    <Panel title={words.title}>
      {vaultProblem ? (
        <Problem
          error={{ code: 'VAULT_DAMAGED', message: vaultProblem.message, hint: vaultProblem.hint ?? undefined }}
        />
      ) : (
        <>
          <p className="muted">{words.protection[protection ?? 'none']}</p>
          {locked && protection === 'passphrase' && <Unlock />}
          {locked && protection !== 'passphrase' && <p className="connect-bad">{words.locked}</p>}
          {keychain && !locked && (
            <button type="button" className="button" disabled={busy} onClick={() => void protect()}>
              {words.useKeychain}
            </button>
          )}
          {(protection === 'key-file' || protection === 'passphrase') && (
            <>
              <p className="muted">{words.change}</p>
              <Command text={protection === 'key-file' ? words.commands.toPassphrase : words.commands.toKeyFile} />
            </>
          )}
        </>
      )}
    </Panel>
  );
}
