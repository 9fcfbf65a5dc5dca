/** `tackroom vault …`. */
import type { Command } from 'commander';
import { example, run } from './run-command.js';

export function addVaultCommands(program: Command): void {
  const vault = program.command('vault').description('keys of model servers, encrypted on this disk');
  const vaultModule = () => import('./vault.js');
  vault
    .command('status')
    .description('what protects it, and how to change that')
    .option('--json')
    .action(run(async () => (await vaultModule()).vaultStatusCommand));
  example(
    vault.command('protect <how>').description('key-file, or passphrase: read from stdin, or asked for'),
    'tackroom vault protect passphrase',
  ).action(run(async () => (await vaultModule()).vaultProtectCommand, ['how']));
  vault
    .command('list')
    .description('names, no values')
    .option('--json')
    .action(run(async () => (await vaultModule()).vaultListCommand));
  vault
    .command('delete <name>')
    .description('for good')
    .action(run(async () => (await vaultModule()).vaultDeleteCommand, ['name']));
  vault
    .command('wipe')
    .description('everything in it, for good, also where nobody can open it any more')
    .requiredOption('--yes', 'it is meant')
    .action(run(async () => (await vaultModule()).vaultWipeCommand));
}
