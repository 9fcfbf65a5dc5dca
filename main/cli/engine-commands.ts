/** `tackroom engine …`. */
import type { Command } from 'commander';
import type { CommandIo } from './io.js';
import { type Body, example, run } from './run-command.js';

export function addEngineCommands(program: Command): void {
  const engine = program.command('engine').description('the native engine alone');
  const withModel = (command: Command): Command =>
    command
      .requiredOption('--model <model>', 'Hugging Face folder, GGUF file or id of a model')
      .option('--adapter <path>', 'PEFT folder or GGUF file')
      .option('--precision <p>', 'fp32, bf16, int16, int8 or auto', 'auto');
  const runEngine = (load: () => Promise<Body>, positional: string[] = []) =>
    run(async () => {
      const [body, { findEngineModel }] = await Promise.all([load(), import('./context.js')]);
      return (async (options: { model: string }, commandIo: CommandIo) =>
        body({ ...options, model: await findEngineModel(options) } as never, commandIo)) as Body;
    }, positional);
  withModel(engine.command('logprobs [file]'))
    .option('--jsonl')
    .action(runEngine(async () => (await import('../engine/cli-logprobs.js')).logprobsCommand as Body, ['file']));
  withModel(engine.command('generate [file]'))
    .option('--greedy')
    .option('--ids')
    .option('--ignore-eos')
    .option('--temperature <t>')
    .option('--seed <n>')
    .option('--jsonl')
    .action(runEngine(async () => (await import('../engine/cli-generate.js')).generateCommand as Body, ['file']));
  withModel(engine.command('step'))
    .requiredOption('--batch <file>')
    .option('-o, --output <dir>')
    .action(runEngine(async () => (await import('../engine/cli-step.js')).stepCommand as Body));
  example(
    withModel(engine.command('bench'))
      .description('tokens a second: prompts, answers, training')
      .option('--threads <n>', '0: all cores', '0')
      .option('--json'),
    'tackroom engine bench --model smollm2 --json',
  ).action(runEngine(async () => (await import('../engine/cli-bench.js')).benchCommand as Body));
  example(
    withModel(engine.command('check'))
      .description('files, tokenizer, and whether every way to a log-probability gives the same')
      .option('--json'),
    'tackroom engine check --model smollm2 --precision fp32',
  ).action(runEngine(async () => (await import('../engine/cli-check.js')).checkCommand as Body));
}
