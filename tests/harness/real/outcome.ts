/** One run of a harness against the script, and what came of it, without what differs between any two runs. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { HarnessName } from '../../../main/harness/connector.js';
import type { Api } from '../../../main/proxy/dialects/dialect.js';
import type { Ran } from '../../support/real-harnesses.js';
import { type AskedBody, hasTools, type ModelServer } from './model-server.js';
import { startProgram } from './program.js';
import { PROGRAMS, type Setup, writeProject } from './programs.js';
import type { Player, Scenario } from './scenarios.js';

export interface Outcome {
  /** `loop`: it asked more than `ENDLESS` times; `hang`: it had to be killed at the deadline. */
  ended: 'exit' | 'loop' | 'hang';
  code: number | null;
  answer: string;
  failure: string;
  /** Below the folder it works in, by path. */
  files: Record<string, string>;
  /** The bodies of its requests. */
  asked: string[];
}

/** Where a run's requests go: to the model server, or to the gateway before it. */
export interface Way {
  origin: string;
  key: string;
}

/** More than any harness asks that is going to end (hermes: 12 turns, each after two attempts that failed). */
const ENDLESS = 30;
/** More than any harness repeats what fails (hermes: 9 times); on a slow machine an endless one comes no further. */
const MANY = 10;
const DEADLINE_MS = 240_000;

/** Ids, times and places of one run. */
const CHANGING: [RegExp, string][] = [
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi, '<uuid>'],
  [/\b(?:ses|msg|prt|tool|pck)_[0-9A-Za-z]{16,}/g, '<id>'],
  [/\b\d{8}_\d{6}_[0-9a-f]{4,}/g, '<id>'],
  [/pi-bash-[0-9a-f]+/g, 'pi-bash'],
  [/\bproc_[0-9a-f]+/g, '<process>'],
  [/"(?:pid|uptime_seconds)\\*": ?\d+/g, '<process>'],
  [/\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?(?:\.\d+)?Z?/g, '<time>'],
  [/\b\d+(?:\.\d+)? ?(?:ms|s|seconds)\b/g, '<duration>'],
];

export function plain(text: string, { home, model, origin }: Pick<Setup, 'home' | 'model' | 'origin'>): string {
  const placed = text.replaceAll(home, '<home>').replaceAll(model, '<model>').replaceAll(origin, '<origin>');
  return CHANGING.reduce((out, [pattern, name]) => out.replace(pattern, name), placed);
}

function filesIn(work: string): Record<string, string> {
  const names = readdirSync(work, { recursive: true, encoding: 'utf8' }).filter((name) =>
    statSync(join(work, name)).isFile(),
  );
  return Object.fromEntries(names.sort().map((name) => [name, readFileSync(join(work, name), 'latin1')]));
}

export async function runScenario(
  server: ModelServer,
  way: Way,
  harness: HarnessName,
  api: Api,
  scenario: Scenario,
): Promise<Outcome> {
  const root = mkdtempSync(join(tmpdir(), 'tackroom-outcome-'));
  const home = join(root, 'home');
  const work = join(home, 'work');
  mkdirSync(join(home, 'tmp'), { recursive: true });
  writeProject(work);
  const set = new Set(scenario.set);
  const model = `scripted-${root.slice(-6)}${set.has('reasoning-model') ? '-deepseek' : ''}`;
  const setup: Setup = { home, work, ...way, model, api, set };
  const player: Player = { harness, work };
  const program = PROGRAMS[harness];
  let stop = (_signal: NodeJS.Signals): void => undefined;
  let loops = false;
  const bodies: AskedBody[] = [];
  const run = server.open(model, (asked) => {
    bodies.push(asked.body);
    if (scenario.stopAfterMs !== undefined && asked.index === 0)
      setTimeout(() => stop('SIGTERM'), scenario.stopAfterMs);
    if (bodies.length > ENDLESS) {
      loops = true;
      stop('SIGKILL');
    }
    if (hasTools(asked.body)) return scenario.play(asked, player);
    return scenario.aside?.(asked, player) ?? { text: 'A short text.' };
  });
  const start = async (command: Parameters<typeof startProgram>[0]): Promise<Ran & { late: boolean }> => {
    const { done, signal } = startProgram(command, work, DEADLINE_MS);
    stop = signal;
    return done;
  };
  try {
    program.configure(setup);
    let ran = await start(program.begin(setup));
    let said = program.hear(ran);
    if (set.has('second-turn')) {
      ran = await start(program.goOn(setup, ran));
      said = { ...program.hear(ran), answer: `${said.answer}\n${program.hear(ran).answer}` };
    }
    return {
      ended: loops || (ran.late && bodies.length > MANY) ? 'loop' : ran.late ? 'hang' : 'exit',
      code: ran.code,
      answer: plain(said.answer, setup),
      failure: plain(said.failure, setup),
      files: filesIn(work),
      asked: run.asked.map(({ body }) => plain(JSON.stringify(body), setup)),
    };
  } finally {
    rmSync(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }
}
