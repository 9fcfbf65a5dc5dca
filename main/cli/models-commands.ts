/** `tackroom models …`. */
import type { Command } from 'commander';
import { example, run } from './run-command.js';

export function addModelsCommands(program: Command): void {
  const models = program.command('models').description('base models');
  const modelsModule = () => import('./models.js');
  models
    .command('list')
    .option('--json')
    .action(run(async () => (await modelsModule()).modelsListCommand));
  example(
    models
      .command('add <path>')
      .description('remember a folder or GGUF file on this disk by a name')
      .option('--name <id>', 'default: the name of the folder or file'),
    'tackroom models add ~/models/smollm2-135m-q4_k_m.gguf --name smollm2',
  ).action(run(async () => (await modelsModule()).modelsAddCommand, ['path']));
  example(
    models
      .command('inspect <model>')
      .description('architecture, shape, types, tokenizer and memory need of a folder, a file or an id; loads nothing')
      .option('--json'),
    'tackroom models inspect ~/models/smollm2-135m-q4_k_m.gguf --json',
  ).action(run(async () => (await modelsModule()).modelsInspectCommand, ['model']));
  models
    .command('remove <id>')
    .description('forget it; its files stay')
    .action(run(async () => (await modelsModule()).modelsRemoveCommand, ['id']));
}
