/** `tackroom vault`: what protects the keys of model servers, and what is in it. */
import { TackroomError } from '../../contract/errors.js';
import { defaultHome, openHome } from '../services/paths.js';
import { Vault } from '../vault/vault.js';
import type { ProtectionKind } from '../vault/vault-file.js';
import { keyFileOf } from '../vault/wrapping-key.js';
import { askHidden, onTerminal, readSecret } from './ask-hidden.js';
import type { GlobalOptions } from './context.js';
import { reloadRoutes } from './gateway-routes.js';
import type { CommandIo } from './io.js';
import { unlockVault } from './open-vault.js';

interface VaultOptions extends GlobalOptions {
  json?: boolean;
}

const homeOf = (options: GlobalOptions): string => openHome(defaultHome(options.home)).home;
const open = (options: GlobalOptions, io: CommandIo): Promise<Vault> => unlockVault(new Vault(homeOf(options)), io);

const EXPLAINED: Record<ProtectionKind, (home: string) => string> = {
  'key-file': (home) =>
    `Protected by the key file ${keyFileOf(home)}, which only this user may read: whoever can read this user's files can read the vault.\nTo change that: tackroom vault protect passphrase, or the keychain in the desktop app.\n`,
  passphrase: () =>
    'Protected by a passphrase, which a gateway needs whenever it starts.\nTo change that: tackroom vault protect key-file\n',
  keychain: () =>
    "Protected by the system's keychain: the desktop app alone can open it.\nTo change that: in the desktop app, under Connect.\n",
};

export async function vaultStatusCommand(options: VaultOptions, io: CommandIo): Promise<number> {
  const home = homeOf(options);
  const status = new Vault(home).status();
  if (options.json) io.stdout.write(`${JSON.stringify(status)}\n`);
  else if (status.protection === null) io.stdout.write('There is no vault yet: the first key makes it.\n');
  else io.stdout.write(EXPLAINED[status.protection](home));
  return 0;
}

async function newPassphrase(io: CommandIo): Promise<string> {
  const first = (await readSecret('New passphrase: ', io)).replace(/\r?\n$/, '');
  if (onTerminal(io) && (await askHidden('Once more: ', io)) !== first)
    throw new TackroomError('BAD_ARGUMENT', 'These were two different passphrases, so nothing was changed.');
  return first;
}

export async function vaultProtectCommand(options: GlobalOptions & { how: string }, io: CommandIo): Promise<number> {
  const { how } = options;
  if (how !== 'key-file' && how !== 'passphrase')
    throw new TackroomError(
      'BAD_ARGUMENT',
      `${JSON.stringify(how)} protects no vault here.`,
      'Take key-file or passphrase; the keychain is set in the desktop app.',
    );
  const vault = await open(options, io);
  await vault.protect(how === 'passphrase' ? { kind: how, passphrase: await newPassphrase(io) } : { kind: how });
  await reloadRoutes(homeOf(options));
  io.stdout.write(EXPLAINED[how](homeOf(options)));
  if (how === 'passphrase')
    io.stderr.write('A gateway that runs has to be given it: in the window, or by a new start.\n');
  return 0;
}

export async function vaultListCommand(options: VaultOptions, io: CommandIo): Promise<number> {
  const names = (await open(options, io)).list();
  io.stdout.write(options.json ? `${JSON.stringify({ names })}\n` : names.map((name) => `${name}\n`).join(''));
  return 0;
}

export async function vaultDeleteCommand(options: GlobalOptions & { name: string }, io: CommandIo): Promise<number> {
  if (!(await (await open(options, io)).delete(options.name)))
    throw new TackroomError('NOT_FOUND', 'There is no such name in the vault.', '`tackroom vault list` shows them.');
  await reloadRoutes(homeOf(options));
  io.stdout.write(`${options.name} is deleted for good.\n`);
  return 0;
}

export async function vaultWipeCommand(options: GlobalOptions, io: CommandIo): Promise<number> {
  const home = homeOf(options);
  await new Vault(home).wipe();
  await reloadRoutes(home);
  io.stdout.write('The vault is empty. Servers that need a key must be given it again.\n');
  return 0;
}
