/** `tackroom guard …`: what there is to call, and with which options. */

import type { Command } from 'commander';
import type { GuardScanOptions } from '../guard/scan/cli.js';
import { type CommandIo, printError } from './io.js';
import { type Body, collect, example, run } from './run-command.js';

const PLUGIN = [
  '--plugin <file>',
  'rules or a policy (.json), or a module (.mjs, .js, .ts); may be given again',
] as const;

export function addGuardCommands(program: Command, version: string): void {
  const guard = program.command('guard').description('verdicts on tool calls');
  example(
    guard
      .command('check [file]')
      .description('verdicts for calls before they run')
      .option('--jsonl', 'one line in, one line out')
      .option(...PLUGIN, collect),
    'tackroom guard check calls.jsonl --jsonl',
  ).action(
    run(async () => {
      const { guardCheckCommand } = await import('../guard/cli.js');
      return ((options: { file?: string }, io: CommandIo) =>
        guardCheckCommand({ ...options, file: options.file ?? '-' }, io)) as Body;
    }, ['file']),
  );

  example(
    guard
      .command('scan <paths...>')
      .description(
        'whole ATIF trajectories; exit 1: a finding at or above --fail-on, 2: something could not be checked',
      )
      .option('--pattern <name>', 'files to take in a folder', 'trajectory.json')
      .option('--task <name>', "the task's name")
      .option('--task-from <source>', 'trial-dir: from the folder of the trial')
      .option('--partial', 'the record is known to be incomplete')
      .option('--rules <file>', 'a JSON policy')
      .option(...PLUGIN, collect)
      .option('--format <form>', 'auto, json or text', 'auto')
      .option('--json', 'the same as --format json')
      .option('--fail-on <severity>', 'info, low, medium, high or critical'),
    'tackroom guard scan jobs/ --task-from trial-dir --fail-on high',
  ).action(
    run(async () => {
      const { guardScanCommand } = await import('../guard/scan/cli.js');
      return (async (options: GuardScanOptions, io: CommandIo) => {
        try {
          return await guardScanCommand(options, io, version);
        } catch (error) {
          printError(io, error);
          return 2;
        }
      }) as Body;
    }, ['paths']),
  );

  example(
    guard
      .command('log')
      .description('what the guard found in your sessions, newest first')
      .option('--session <id>', 'of one session, also of a rollout')
      .option('--rule <id>')
      .option('--verdict <kind>', 'block or suspicious')
      .option('--rollouts', 'those of rollouts too')
      .option('--limit <n>', 'newest first', '50')
      .option('--json', 'one document')
      .option('--jsonl', 'one line a finding'),
    'tackroom guard log --verdict block',
  ).action(run(async () => (await import('./guard-log.js')).guardLogCommand));

  const answers = () => import('./guard-answers.js');
  example(
    guard.command('wrong <verdict>').description('this was wrong: let this rule pass this call from now on'),
    'tackroom guard wrong verdict_…',
  ).action(run(async () => (await answers()).guardWrongCommand, ['verdict']));
  guard
    .command('allowances')
    .description('what was answered so')
    .option('--revoke <id>', 'takes one back, with its test')
    .option('--json')
    .action(run(async () => (await answers()).guardAllowancesCommand));
  guard
    .command('test')
    .description(
      'the tests that follow from these answers, against the rules of today; exit 1: one says something else',
    )
    .option('--json')
    .action(run(async () => (await answers()).guardTestCommand));

  const settings = () => import('./guard-settings.js');
  example(
    guard
      .command('settings')
      .description('shows or changes how the guard judges; a gateway that runs takes it at its next check')
      .option('--profile <name>', 'of your own sessions: desktop or training')
      .option('--blocked <form>', 'what a blocked call becomes: notice or harmless')
      .option('--judge <server>', 'base URL on loopback, engine, or off')
      .option('--judge-model <id>', "the server's own name of the model")
      .option('--judge-seconds <n>', 'how long it may take over a call')
      .option('--plugins-in-rollouts <on|off>', 'whether plugins look at rollouts too')
      .option('--reset', 'puts the defaults back')
      .option('--json'),
    'tackroom guard settings --blocked harmless',
  ).action(run(async () => (await settings()).guardSettingsCommand));

  const plugins = guard.command('plugins').description('rules of your own');
  plugins
    .command('list')
    .option('--json')
    .action(run(async () => (await settings()).guardPluginsListCommand));
  example(
    plugins.command('add <file>').description('a file, or its new content'),
    'tackroom guard plugins add ~/rules/own.mjs',
  ).action(run(async () => (await settings()).guardPluginsAddCommand, ['file']));
  plugins
    .command('remove <file>')
    .description('the file stays')
    .action(run(async () => (await settings()).guardPluginsRemoveCommand, ['file']));
}
