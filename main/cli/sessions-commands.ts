/** `tackroom sessions …`. */
import type { Command } from 'commander';
import { example, run } from './run-command.js';

export function addSessionsCommands(program: Command): void {
  const sessions = program.command('sessions').description('recorded sessions');
  const sessionsModule = () => import('./sessions.js');
  sessions
    .command('list')
    .option('--json')
    .option('--limit <n>', 'newest first', '50')
    .action(run(async () => (await sessionsModule()).sessionsListCommand));
  sessions
    .command('show <id>')
    .option('--json')
    .action(run(async () => (await sessionsModule()).sessionsShowCommand, ['id']));
  sessions
    .command('search <text>')
    .option('--json')
    .action(run(async () => (await sessionsModule()).sessionsSearchCommand, ['text']));
  example(
    sessions
      .command('import <path>')
      .description('session files of other programs, or a folder with some; reads only, again adds what is new')
      .option('--harness <name>', 'auto, pi, opencode, hermes, claude-code, codex or atif', 'auto')
      .option('--json'),
    'tackroom sessions import ~/.pi/agent/sessions --json',
  ).action(run(async () => (await import('./sessions-import.js')).sessionsImportCommand, ['path']));
  sessions.command('delete <id>').action(run(async () => (await sessionsModule()).sessionsDeleteCommand, ['id']));
  example(
    sessions
      .command('export <id>')
      .description('as ATIF, sanitized; --raw writes a local file marked as unsanitized')
      .option('--format <name>', 'atif or native', 'atif')
      .option('-o, --output <file>', 'a file, or a folder for a file named after the session')
      .option('--raw', 'with token ids, not sanitized, not for publishing'),
    'tackroom sessions export ses_… -o trajectory.json',
  ).action(run(async () => (await sessionsModule()).sessionsExportCommand, ['id']));
  example(
    sessions
      .command('exports')
      .description('what was exported, by which rules, and what is stale since')
      .option('--stale', 'only what should be made again')
      .option('--json'),
    'tackroom sessions exports --stale',
  ).action(run(async () => (await import('./sessions-exports.js')).sessionsExportsCommand));
}
