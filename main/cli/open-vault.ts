/** The vault of a home, opened: with the passphrase of the environment, or with one that is typed. */
import type { Vault } from '../vault/vault.js';
import { askHidden, onTerminal } from './ask-hidden.js';
import type { CommandIo } from './io.js';

const VARIABLE = 'TACKROOM_VAULT_PASSPHRASE';

/** Stays locked where nobody can be asked. Errors: UNAUTHORIZED for a wrong passphrase, VAULT_DAMAGED. */
export async function unlockVault(vault: Vault, io: CommandIo): Promise<Vault> {
  const { protection, locked } = vault.status();
  if (!locked || protection !== 'passphrase') return vault;
  const given = process.env[VARIABLE];
  if (given) await vault.unlock(given);
  else if (onTerminal(io)) await vault.unlock(await askHidden('Passphrase of the vault: ', io));
  return vault;
}
