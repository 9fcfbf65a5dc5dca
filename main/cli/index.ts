/** `tackroom`: the command line. Each command's body is a function of (options, io) -> exit code in a module of its own. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command, CommanderError } from 'commander';
import { packageRoot } from '../../native/addon.js';
import type { EnvsIo } from '../envs/cli.js';
import type { Store } from '../store/store.js';
import { addEngineCommands } from './engine-commands.js';
import { addGuardCommands } from './guard-commands.js';
import { type CommandIo, printError } from './io.js';
import { addModelsCommands } from './models-commands.js';
import { addRecordingCommands } from './recording-commands.js';
import { type Body, example, first, io, run } from './run-command.js';
import { addSessionsCommands } from './sessions-commands.js';
import { addTrainingCommands } from './training-commands.js';
import { addVaultCommands } from './vault-commands.js';

const version = (JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8')) as { version: string }).version;
const program = new Command('tackroom')
  .description('Record, guard, sanitize and train local coding agents')
  .version(version)
  .option('--home <dir>', 'folder of all state (or TACKROOM_HOME)')
  .exitOverride()
  .showHelpAfterError('(tackroom --help shows all commands)');

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
    .option('--gateway-only', 'no window, and the engine only when somebody needs it')
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

example(
  program
    .command('login-item <what>')
    .description('on, off or status: start the gateway alone at login')
    .option('--json'),
  'tackroom login-item on',
).action(run(async () => (await import('./login-item.js')).loginItemCommand, ['what']));

addSessionsCommands(program);
addRecordingCommands(program);

example(
  program
    .command('sanitize [file]')
    .description('text or session records in, the same lines without secrets and personal data out')
    .option('--each-line', 'each line is a session of its own')
    .option('--report <file>', 'what was replaced, JSONL')
    .option('--rules <file>', 'own entities, and what keeps a session in (JSON or YAML)')
    .option('--canary', 'plant fakes in a copy of the beginning and print how many went')
    .option('--check', 'exit 3 when something is found')
    .option('--restore', 'put the originals back into a cleaned file, through the map that was kept of it')
    .option('--map <id>', 'with --restore: which map, for a file that was edited since')
    .option('--no-map', 'keep no map of the originals')
    .option('--forget-maps', 'delete all maps, for good'),
  'tackroom sanitize session.jsonl --report found.jsonl > clean.jsonl\n  tackroom sanitize --restore clean.jsonl > session.jsonl',
).action(
  run(async () => {
    const { sanitizeCommand } = await import('../sanitize/cli.js');
    return ((options: { file?: string }, commandIo: CommandIo) =>
      sanitizeCommand({ ...options, file: options.file ?? '-' }, commandIo)) as Body;
  }, ['file']),
);

addGuardCommands(program, version);

const envs = program.command('envs').description('verifiable tasks');
const envsModule = () => import('../envs/cli.js');
/** The body follows the user's rules and decisions about sessions. */
const withRules =
  <P, O>(body: (positional: P, options: O, io: EnvsIo) => Promise<number>) =>
  (positional: P, options: O, commandIo: CommandIo): Promise<number> => {
    const registryOf = async (store: Store, id: string) =>
      (await import('./clean-verdict.js')).exportRegistry(store, id, commandIo);
    return body(positional, options, { ...commandIo, registryOf });
  };
envs
  .command('find [paths...]')
  .description('candidates and drops of sessions; runs nothing')
  .option('--session <id>')
  .option('--json')
  .action(run(async () => first(withRules((await envsModule()).envsFindCommand), 'paths'), ['paths']));
envs
  .command('build <candidate>')
  .description('a Harbor task folder')
  .requiredOption('-o, --output <dir>')
  .option('--json')
  .action(run(async () => first(withRules((await envsModule()).envsBuildCommand), 'candidate'), ['candidate']));
example(
  envs.command('check <dirs...>').description('runs the trial matrix').option('--json'),
  'tackroom envs check tasks/* --json',
).action(run(async () => first((await envsModule()).envsCheckCommand, 'dirs'), ['dirs']));
envs
  .command('list')
  .option('--json')
  .action(run(async () => (await import('./tasks.js')).tasksListCommand));

addTrainingCommands(program);

example(
  program
    .command('route [harness] [server]')
    .description('which model server answers a harness; without a server it shows')
    .option('--to <url>', 'the same as SERVER: base URL, with /v1, or "engine"')
    .option('--model <id>', "the server's own name of the model")
    .option('--api <name>', 'chat, responses or messages: the only one it speaks; others are translated')
    .option('--key-stdin', "read the server's key from stdin, or ask for it, and keep it in the vault")
    .option('--key-env <name>', "environment variable of the gateway that holds the server's key")
    .option('--forget', 'the server and its key, for good; without a harness: all of them')
    .option('--json'),
  'tackroom route pi http://127.0.0.1:8080/v1 --model qwen3:8b',
).action(run(async () => (await import('./route.js')).routeCommand, ['harness', 'server']));

addVaultCommands(program);
addModelsCommands(program);
addEngineCommands(program);

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : 2;
  else process.exitCode = printError(io, error);
}
