/** `tackroom rollout`, `train`, `eval` and `adapters`. */
import type { Command } from 'commander';
import { example, run } from './run-command.js';

export function addTrainingCommands(program: Command): void {
  example(
    program
      .command('rollout')
      .description('rollouts of a harness on a task, scored')
      .requiredOption('--task <dir>', 'Harbor task folder')
      .option('--harness <name>', 'pi', 'pi')
      .option('--model <id>')
      .option('--adapter <key>', 'hash, name or PEFT folder')
      .option('-n <count>', 'rollouts', '8')
      .option('--workers <n>', 'at a time', '2')
      .option('--temperature <t>', '', '0.8')
      .option('--seed <n>', '', '0')
      .option('--jsonl', 'one line a rollout'),
    'tackroom rollout --task tasks/data-1 -n 8 --jsonl',
  ).action(run(async () => (await import('./rollout.js')).rolloutCommand));

  const train = program.command('train').description('training runs');
  const trainModule = () => import('./train.js');
  train
    .command('plan <file>')
    .description('rollouts, time and memory of a run, from its file and the header of the model')
    .option('--model <id>')
    .option('--json')
    .action(run(async () => (await trainModule()).trainPlanCommand, ['file']));
  train
    .command('start <file>')
    .option('--model <id>')
    .option('--workers <n>', '', '4')
    .action(run(async () => (await trainModule()).trainStartCommand, ['file']));
  train
    .command('resume <id>')
    .option('--model <id>')
    .option('--workers <n>', '', '4')
    .action(run(async () => (await trainModule()).trainResumeCommand, ['id']));
  train
    .command('status [id]')
    .option('--json')
    .action(run(async () => (await trainModule()).trainStatusCommand, ['id']));

  example(
    program
      .command('eval')
      .description('held-out table with intervals')
      .requiredOption('--tasks <dir>', 'folder of Harbor tasks')
      .option('--adapter <key>')
      .option('--run <id>', 'its best checkpoint')
      .option('--model <id>')
      .option('--temperature <t>', '', '0.8')
      .option('--samples <n>', 'of each task', '1')
      .option('--workers <n>', '', '4')
      .option('--json'),
    'tackroom eval --adapter 3fa2bc --tasks heldout/ --json',
  ).action(run(async () => (await import('./eval.js')).evalCommand));

  const adapters = program.command('adapters').description('trained adapters');
  const adaptersModule = () => import('./adapters.js');
  adapters
    .command('list')
    .option('--json')
    .action(run(async () => (await adaptersModule()).adaptersListCommand));
  adapters.command('show <key>').action(run(async () => (await adaptersModule()).adaptersShowCommand, ['key']));
  adapters
    .command('export <key>')
    .option('--format <name>', 'peft', 'peft')
    .requiredOption('-o, --output <dir>')
    .action(run(async () => (await adaptersModule()).adaptersExportCommand, ['key']));
  adapters
    .command('import <dir>')
    .option('--name <name>')
    .option('--model <id>')
    .action(run(async () => (await adaptersModule()).adaptersImportCommand, ['dir']));
  example(
    adapters
      .command('swap <key>')
      .description('put an adapter (or "base") behind a harness')
      .requiredOption('--harness <name>'),
    'tackroom adapters swap 3fa2bc --harness pi',
  ).action(run(async () => (await adaptersModule()).adaptersSwapCommand, ['key']));
  adapters
    .command('rollback')
    .requiredOption('--harness <name>')
    .action(run(async () => (await adaptersModule()).adaptersRollbackCommand));
}
