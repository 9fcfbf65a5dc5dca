/** `tackroom guard scan PATH…`: whole ATIF trajectories. Exit 0 fine, 1 a finding at or above --fail-on, 2 something could not be checked. */
import { readFile } from 'node:fs/promises';
import type { Writable } from 'node:stream';
import { z } from 'zod';
import { TackroomError } from '../../../contract/errors.js';
import { loadPlugin, type Plugin, stopPlugins } from '../plugins.js';
import { SEVERITIES } from '../types.js';
import { evaluate, unexcused } from './evaluate.js';
import { readJson, rewardBeside, taskFromTrial, trajectoryFiles } from './inputs.js';
import { pluginChecks } from './plugin-checks.js';
import { parsePolicy } from './policy.js';
import { jsonReport, type ScannedInput, textReport } from './report.js';
import { readTrace, type TraceFacts } from './trace.js';

const Options = z.object({
  paths: z.array(z.string()).min(1),
  pattern: z.string().max(200).default('trajectory.json'),
  task: z.string().optional(),
  taskFrom: z.enum(['trial-dir']).optional(),
  partial: z.boolean().optional(),
  rules: z.string().optional(),
  plugin: z.array(z.string()).optional(),
  format: z.enum(['auto', 'json', 'text']).default('auto'),
  json: z.boolean().optional(),
  failOn: z.enum(SEVERITIES).optional(),
});
export type GuardScanOptions = z.input<typeof Options>;

/** Exit code as above. Errors: BAD_ARGUMENT (an option, a policy), NOT_FOUND (a path). */
export async function guardScanCommand(
  options: GuardScanOptions,
  io: { stdout: Writable; stderr: Writable },
  version = '0',
): Promise<number> {
  const parsed = Options.safeParse(options);
  if (!parsed.success)
    throw new TackroomError(
      'BAD_ARGUMENT',
      `${parsed.error.issues[0]?.path.join('.')}: ${parsed.error.issues[0]?.message}.`,
      'See tackroom guard scan --help.',
    );
  const { paths, pattern, failOn, ...rest } = parsed.data;
  const plugins = await loadAll(rest.rules, rest.plugin ?? []);
  const inputs: ScannedInput[] = [];
  try {
    for (const path of await trajectoryFiles(paths, pattern)) inputs.push(...(await scanFile(path, rest, plugins)));
  } finally {
    stopPlugins(plugins);
  }
  const terminal = (io.stdout as { isTTY?: boolean }).isTTY === true;
  const asJson = rest.json === true || rest.format === 'json' || (rest.format === 'auto' && !terminal);
  io.stdout.write(asJson ? `${JSON.stringify(jsonReport(inputs, version))}\n` : textReport(inputs));
  return exitCode(inputs, failOn);
}

/** `--rules` is a policy, whatever its name. */
async function loadAll(rules: string | undefined, paths: string[]): Promise<Plugin[]> {
  const plugins = await Promise.all(paths.map((path) => loadPlugin(path)));
  if (rules !== undefined)
    plugins.push({ kind: 'policy', name: rules, policy: parsePolicy(await readFile(rules, 'utf8'), rules) });
  return plugins;
}

interface Facts {
  task?: string | undefined;
  taskFrom?: 'trial-dir' | undefined;
  partial?: boolean | undefined;
}

const MAX_EMBEDDED = 1000;

/** The document of a file, and behind it the subagents embedded in it as `PATH#TRAJECTORY_ID`. */
async function scanFile(path: string, options: Facts, plugins: readonly Plugin[]): Promise<ScannedInput[]> {
  try {
    const raw = await readJson(path);
    const facts = {
      task: options.task ?? (options.taskFrom ? taskFromTrial(path) : null),
      reward: await rewardBeside(path),
      partial: options.partial === true,
    };
    const out = [await scanDocument(path, raw, facts, plugins)];
    for (let i = 0; i < out.length && out.length < MAX_EMBEDDED; i++)
      for (const sub of out[i]?.trace?.document.subagent_trajectories ?? []) {
        const id = (sub as { trajectory_id?: unknown } | null)?.trajectory_id;
        out.push(await scanDocument(`${path}#${typeof id === 'string' ? id : out.length}`, sub, facts, plugins));
      }
    return out;
  } catch (cause) {
    return [{ id: path, trace: null, error: sentence(cause), assessments: [] }];
  }
}

async function scanDocument(
  id: string,
  raw: unknown,
  facts: TraceFacts,
  plugins: readonly Plugin[],
): Promise<ScannedInput> {
  try {
    const trace = readTrace(raw, facts);
    return { id, trace, error: null, assessments: evaluate(trace, await pluginChecks(plugins, trace)) };
  } catch (cause) {
    return { id, trace: null, error: sentence(cause), assessments: [] };
  }
}

/** Why a file could not be read, without its text. */
function sentence(cause: unknown): string {
  if (cause instanceof z.ZodError)
    return `no ATIF document: ${cause.issues[0]?.path.join('.')}: ${cause.issues[0]?.code}`;
  if (cause instanceof SyntaxError) return 'no JSON';
  return cause instanceof Error ? cause.message.slice(0, 300) : 'unreadable';
}

function exitCode(inputs: readonly ScannedInput[], failOn: (typeof SEVERITIES)[number] | undefined): number {
  if (
    inputs.length === 0 ||
    inputs.some(({ trace, assessments }) => trace === null || assessments.some(({ status }) => status === 'error'))
  )
    return 2;
  if (failOn === undefined) return 0;
  const bar = SEVERITIES.indexOf(failOn);
  return inputs.some(({ assessments }) =>
    unexcused(assessments).some(({ severity }) => SEVERITIES.indexOf(severity) >= bar),
  )
    ? 1
    : 0;
}
