/** `tackroom demo`: the whole loop on the built-in model, in a state folder and a pi home of its own. */
import { renameSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { TackroomError } from '../../contract/errors.js';
import { startApp } from '../cli/app.js';
import type { GlobalOptions } from '../cli/context.js';
import type { CommandIo } from '../cli/io.js';
import { portNumber, wholeNumber } from '../cli/numbers.js';
import { formatDuration, Progress } from '../cli/progress.js';
import { openBrowser, untilAborted } from '../cli/serve.js';
import { findPi } from '../harness/find-pi.js';
import { resolveModel } from '../models/resolve-model.js';
import { requireSandbox } from '../sandbox/detect.js';
import { defaultHome, makeFolder } from '../services/paths.js';
import { cleanDemo } from './clean.js';
import type { DemoContext } from './context.js';
import { runDemo } from './demo.js';
import { takeLock } from './lock.js';
import { DEMO_BYTES, demoPlan, shortPlan } from './plan.js';
import { reportText } from './report.js';
import { loadState, STAGES, saveState } from './state.js';

/** Seeds of stages are made from it by arithmetic that is exact below. */
const MAX_SEED = 2 ** 31 - 1;

export interface DemoOptions extends GlobalOptions {
  seed: string;
  out?: string;
  clean?: boolean;
  fresh?: boolean;
  port: string;
  uiPort: string;
  open?: boolean;
  short?: boolean;
}

/** `--home`, or a folder beside the user's own state, never inside it. */
export function demoRoot(options: GlobalOptions): string {
  return options.home ? resolve(options.home) : `${defaultHome()}-demo`;
}

function checkDisk(root: string): void {
  makeFolder(root);
  const { bavail, bsize } = statfsSync(root);
  const free = bavail * bsize;
  if (free < DEMO_BYTES)
    throw new TackroomError(
      'DISK_FULL',
      `The demo needs ${Math.round(DEMO_BYTES / 2 ** 20)} MB in ${root}; ${Math.round(free / 2 ** 20)} MB are free.`,
      'Free some space or choose another folder with --home.',
    );
}

export async function demoCommand(options: DemoOptions, io: CommandIo): Promise<number> {
  const root = demoRoot(options);
  const progress = new Progress(io);
  const say = (text: string): void => progress.line(text);
  if (options.clean) {
    say(cleanDemo(root));
    return 0;
  }
  const seed = wholeNumber('--seed', options.seed, 0, MAX_SEED);
  const ports = { port: portNumber('--port', options.port), uiPort: portNumber('--ui-port', options.uiPort) };
  checkDisk(root);
  // Ten minutes later would be late to say that it cannot be written there.
  if (options.out) makeFolder(dirname(resolve(options.out)));
  const release = takeLock(root);
  try {
    return await runLocked(options, io, { root, seed, ports, progress, say });
  } finally {
    release();
  }
}

interface Prepared {
  root: string;
  seed: number;
  ports: { port: number; uiPort: number };
  progress: Progress;
  say(text: string): void;
}

async function runLocked(
  options: DemoOptions,
  io: CommandIo,
  { root, seed, ports, progress, say }: Prepared,
): Promise<number> {
  const home = join(root, `${options.short ? 'short' : 'seed'}-${seed}`);
  if (options.fresh) rmSync(home, { recursive: true, force: true });
  const pi = await findPi();
  const driver = await requireSandbox();
  const modelDir = resolveModel(undefined);
  say(`State in ${home} (${Math.round(DEMO_BYTES / 2 ** 20)} MB at most); remove it with \`tackroom demo --clean\`.`);
  say(`pi ${pi.version}, sandbox ${driver.name}, limits by ${driver.limits}.`);
  const app = await startApp({
    home,
    modelDir,
    ...ports,
    onRestart: (service, exit) =>
      say(`The ${service} ended (${exit.signal ?? `exit code ${exit.code}`}); it is started again.`),
  });
  try {
    say(`Window: ${app.window.url}`);
    if (options.open) openBrowser(app.window.url);
    const plan = options.short ? shortPlan(seed) : demoPlan(seed);
    const context: DemoContext = {
      app,
      plan,
      state: loadState(app.services.store, seed),
      seed,
      driver,
      pi,
      progress,
      signal: io.signal,
      say,
    };
    const report = await runDemo(context);
    saveState(app.services.store, context.state);
    progress.clear();
    io.stdout.write(`\n${reportText(report, plan.run.temperature)}\n`);
    io.stdout.write(
      `${report.recorded.sessions} sessions, ${report.recorded.requests} requests and ${report.recorded.tool_calls} tool calls recorded in ${formatDuration(report.seconds * 1000)}.\n`,
    );
    if (options.out) writeOut(options.out, report);
    if (io.interactive && process.stdin.isTTY) {
      say(`The window stays open until Ctrl-C: ${app.window.url}`);
      await untilAborted(io.signal);
    }
    return 0;
  } catch (error) {
    progress.clear();
    if (!io.signal.aborted) throw error;
    const done = STAGES.filter((name) => loadState(app.services.store, seed).done[name]);
    say(
      `Stopped. Kept: ${done.length ? done.join(', ') : 'nothing finished yet'}, every recorded session and the last checkpoint. Start again to go on.`,
    );
    return 130;
  } finally {
    await app.stop();
  }
}

function writeOut(file: string, value: unknown): void {
  const target = resolve(file);
  makeFolder(dirname(target));
  const temporary = `${target}.tmp-${process.pid}`;
  writeFileSync(temporary, `${JSON.stringify(value, null, 2)}\n`);
  renameSync(temporary, target);
}
