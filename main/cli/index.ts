/** `tackroom`: the command line. Each command's body is a function of (options, io) -> exit code in a module of its own. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command, CommanderError } from 'commander';
import { packageRoot } from '../../native/addon.js';
import type { Body } from './command-kit.js';
import { addGuardCommands } from './guard-commands.js';
import { type CommandIo, printError } from './io.js';

const controller = new AbortController();
const io: CommandIo = {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  interactive: process.stderr.isTTY === true,
  signal: controller.signal,
};

/** Exit codes of an end that was asked for: 128 + the signal's number, as shells have it. */
const STOPPED = { SIGINT: 130, SIGTERM: 143 } as const;
let stopped: number = STOPPED.SIGINT;
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => {
    stopped = STOPPED[signal];
    // A second one does not wait for a clean end.
    if (controller.signal.aborted) process.exit(stopped);
    controller.abort();
  });
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // The reader (head, less) went away.
  if (error.code === 'EPIPE') process.exit(0);
});
// Nobody reads the messages: the work goes on without them.
process.stderr.on('error', () => undefined);

const version = (JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8')) as { version: string }).version;
const program = new Command('tackroom')
  .description('Record, guard, sanitize and train local coding agents')
  .version(version)
  .option('--home <dir>', 'folder of all state (or TACKROOM_HOME)')
  .exitOverride()
  .showHelpAfterError('(tackroom --help shows all commands)');

/** Runs a command body with the options of its whole chain; sets the exit code. */
const run =
  (load: () => Promise<Body>, positional: string[] = []) =>
  async (...args: unknown[]): Promise<void> => {
    const command = args.at(-1) as Command;
    const options: Record<string, unknown> = { ...command.optsWithGlobals() };
    positional.forEach((name, i) => {
      options[name] = args[i];
    });
    try {
      const code = await (await load())(options as never, io);
      process.exitCode = code === STOPPED.SIGINT ? stopped : code;
    } catch (error) {
      process.exitCode = controller.signal.aborted ? stopped : printError(io, error);
    }
  };
/** A body that takes its positional argument first. */
const first =
  <P, O>(body: (positional: P, options: O, commandIo: CommandIo) => Promise<number>, name: string): Body =>
  (options: never, commandIo) =>
    body((options as Record<string, unknown>)[name] as P, options as O, commandIo);
const example = (command: Command, text: string): Command => command.addHelpText('after', `\nExample:\n  ${text}`);

example(
  program
    .command('demo')
    .description('the whole loop on the built-in model with the real pi')
    .option('--seed <n>', 'of tasks, adapter and sampling', '0')
    .option('--out <file>', 'write the closing table as JSON')
    .option('--clean', 'remove everything the demo made')
    .option('--fresh', 'forget an earlier demo of this seed and start over')
    .option('--port <n>', 'of the gateway (0: any free one)', '0')
    .option('--ui-port <n>', 'of the window (0: any free one)', '0')
    .option('--open', 'open the window in a browser')
    .option('--short', 'the few minutes of it that npm test runs'),
  'tackroom demo --seed 1 --out table.json',
).action(run(async () => (await import('../demo/command.js')).demoCommand));

example(
  program
    .command('serve')
    .description('gateway, engine and the window in a browser')
    .option('--port <n>', 'of the gateway (default: the one of this home, which connected harnesses know)')
    .option('--ui-port <n>', 'of the window', '4142')
    .option('--model <id>', 'folder, GGUF file or id of a model (default: the built-in one)')
    .option('--context-memory <size>', 'for contexts, such as 2GiB (default: by what is free)')
    .option('--open', 'open the window', false)
    .option('--no-open', 'do not open the window')
    .option('--json', 'print one JSON line when ready'),
  'tackroom serve --open',
).action(run(async () => (await import('./serve.js')).serveCommand));

example(
  program.command('doctor').description('checks what this machine has and can do').option('--json', 'as JSON'),
  'tackroom doctor --json',
).action(run(async () => (await import('./doctor.js')).doctorCommand));

const connectModule = () => import('./connect.js');
const withRoot = (command: Command): Command =>
  command
    .option('--dry-run', 'print the change as a diff only')
    .option('--root <dir>', 'another home folder of the harness');
example(
  withRoot(program.command('connect <harness>').description('point pi, opencode or hermes at Tackroom'))
    .option('--port <n>', 'of the gateway, from now on (default: the one of this home)')
    .option('--model <id>', 'that is served, for its context length (default: what the gateway says)')
    .option('--context <tokens>', 'that the model holds, where its files cannot be read')
    .option('--print-env', 'hermes: print variables that do the same, change nothing'),
  'tackroom connect pi --dry-run',
).action(run(async () => (await connectModule()).connectHarness, ['harness']));
example(
  withRoot(program.command('disconnect <harness>').description('undo exactly what connect changed')),
  'tackroom disconnect pi --dry-run',
).action(run(async () => (await connectModule()).disconnectHarness, ['harness']));

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
    .option('-o, --output <file>')
    .option('--raw', 'with token ids, not sanitized, not for publishing'),
  'tackroom sessions export ses_… -o trajectory.json',
).action(run(async () => (await sessionsModule()).sessionsExportCommand, ['id']));

example(
  program
    .command('sanitize [file]')
    .description('text or session records in, the same lines without secrets and personal data out')
    .option('--each-line', 'each line is a session of its own')
    .option('--report <file>', 'what was replaced, JSONL')
    .option('--rules <file>', 'own entities and patterns')
    .option('--canary', 'plant fakes and print the score')
    .option('--check', 'exit 3 when something is found')
    .option('--restore', 'put the originals back through the local vault'),
  'tackroom sanitize session.jsonl --report found.jsonl > clean.jsonl',
).action(
  run(async () => {
    const { sanitizeCommand } = await import('../sanitize/cli.js');
    return ((options: { file?: string }, commandIo: CommandIo) =>
      sanitizeCommand({ ...options, file: options.file ?? '-' }, commandIo)) as Body;
  }, ['file']),
);

addGuardCommands({ program, version, run, example });

const envs = program.command('envs').description('verifiable tasks');
const envsModule = () => import('../envs/cli.js');
envs
  .command('find [paths...]')
  .description('candidates and drops of sessions; runs nothing')
  .option('--session <id>')
  .option('--json')
  .action(run(async () => first((await envsModule()).envsFindCommand, 'paths'), ['paths']));
envs
  .command('build <candidate>')
  .description('a Harbor task folder')
  .requiredOption('-o, --output <dir>')
  .option('--json')
  .action(run(async () => first((await envsModule()).envsBuildCommand, 'candidate'), ['candidate']));
example(
  envs.command('check <dirs...>').description('runs the trial matrix').option('--json'),
  'tackroom envs check tasks/* --json',
).action(run(async () => first((await envsModule()).envsCheckCommand, 'dirs'), ['dirs']));
envs
  .command('list')
  .option('--json')
  .action(run(async () => (await import('./tasks.js')).tasksListCommand));

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

example(
  program
    .command('route [harness]')
    .description('which model server answers a harness; without --to it shows')
    .option('--to <url>', 'base URL of a server, with /v1, or "engine"')
    .option('--model <id>', "the server's own name of the model")
    .option('--api <name>', 'chat, responses or messages: the only one it speaks; others are translated')
    .option('--key-env <name>', "environment variable of the gateway that holds the server's key")
    .option('--json'),
  'tackroom route pi --to http://127.0.0.1:8080/v1 --model qwen3:8b',
).action(run(async () => (await import('./route.js')).routeCommand, ['harness']));

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

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : 2;
  else process.exitCode = printError(io, error);
}
