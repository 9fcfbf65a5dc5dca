/** Plugins of the guard: JSON rules, JSON policies, and JavaScript or TypeScript modules, which run apart. They only add findings. */
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { basename } from 'node:path';
import { z } from 'zod';
import { TackroomError } from '../../contract/errors.js';
import { parseObject } from './json-object.js';
import { PLUGIN_LIMITS, type PluginLimits, PluginProcess } from './plugin-process.js';
import { parseRuleSpecs, type RuleSpec, ruleChannels, VerdictChange } from './rules.js';
import { moduleOfRules } from './rules-module.js';
import { type Policy, parsePolicy } from './scan/policy.js';
import { stripTypes } from './strip-types.js';
import type { Surface } from './surface.js';
import { type Finding, type GuardInput, SEVERITIES } from './types.js';

export type Plugin =
  | { kind: 'policy'; name: string; policy: Policy }
  | { kind: 'module'; name: string; module: PluginModule }
  /** It should look at calls and cannot: `reason` says why, in a line. */
  | { kind: 'unusable'; name: string; reason: string };

/** Bytes. */
const MAX_SOURCE = 1024 * 1024;

/** Errors: those of `readPlugin` and `pluginFrom`. */
export async function loadPlugin(path: string, limits: PluginLimits = PLUGIN_LIMITS): Promise<Plugin> {
  return pluginFrom(path, await readPlugin(path), limits);
}

/** The text of a plugin; pipes are not waited for. Errors: NOT_FOUND, BAD_ARGUMENT (no ordinary file, too large). */
export async function readPlugin(path: string): Promise<string> {
  const unreadable = (cause: unknown): never => {
    throw new TackroomError('NOT_FOUND', `The plugin ${path} cannot be read.`, 'Name a .json, .mjs, .js or .ts file.', {
      cause,
    });
  };
  const file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)).catch(unreadable);
  try {
    if (!(await file.stat()).isFile())
      throw new TackroomError('BAD_ARGUMENT', `The plugin ${path} is no ordinary file.`, 'Name the file itself.');
    const bytes = await readHead(file, MAX_SOURCE + 1).catch(unreadable);
    if (bytes.length > MAX_SOURCE)
      throw new TackroomError('BAD_ARGUMENT', `The plugin ${path} is larger than a megabyte.`, 'Make it smaller.');
    return bytes.toString('utf8');
  } finally {
    await file.close();
  }
}

/** At most `limit` bytes: what a file says its size is does not count. */
async function readHead(file: FileHandle, limit: number): Promise<Buffer> {
  const buffer = Buffer.alloc(limit);
  let at = 0;
  while (at < limit) {
    const { bytesRead } = await file.read(buffer, at, limit - at, at);
    if (bytesRead === 0) break;
    at += bytesRead;
  }
  return buffer.subarray(0, at);
}

/** Errors: BAD_ARGUMENT (not a plugin, a mistake in JSON), UNSUPPORTED (TypeScript under an older Node). */
export function pluginFrom(path: string, text: string, limits: PluginLimits = PLUGIN_LIMITS): Plugin {
  const name = basename(path);
  if (path.endsWith('.json'))
    return parseObject(text)?.version === 1
      ? {
          kind: 'module',
          name,
          module: new PluginModule(name, moduleOfRules(ruleSpecs(text, name)), limits, ruleChannels),
        }
      : { kind: 'policy', name, policy: parsePolicy(text, name) };
  if (!/\.[mc]?[jt]s$/.test(path))
    throw new TackroomError('BAD_ARGUMENT', `${path} is no plugin.`, 'Name a .json, .mjs, .js or .ts file.');
  return {
    kind: 'module',
    name,
    module: new PluginModule(name, /\.[mc]?ts$/.test(path) ? stripTypes(text, name) : text, limits),
  };
}

function ruleSpecs(text: string, name: string): RuleSpec[] {
  const specs = parseRuleSpecs(text, name);
  if (specs.length > 0 && specs.length <= MAX_RULES) return specs;
  throw new TackroomError(
    'BAD_ARGUMENT',
    `The guard rules in ${name} are ${specs.length}.`,
    `A plugin holds one to ${MAX_RULES} rules: take several files.`,
  );
}

/** Ends the processes of modules. */
export function stopPlugins(plugins: Iterable<Plugin>): void {
  for (const plugin of plugins) if (plugin.kind === 'module') plugin.module.stop();
}

/** As in resources/guard/plugin-host.mjs. */
const MAX_RULES = 200;
const Described = z
  .array(
    z.object({
      id: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_.:/-]{0,127}$/),
      severity: z.enum(SEVERITIES).default('info'),
      title: z.string().max(200).optional(),
      verdict: VerdictChange.optional(),
    }),
  )
  .min(1)
  .max(MAX_RULES);
export type PluginRule = z.infer<typeof Described>[number];
const Looked = z.array(
  z.union([
    z.object({ rule: z.number().int().nonnegative(), failed: z.literal(true) }),
    z.object({ rule: z.number().int().nonnegative(), reason: z.string().max(200) }),
  ]),
);

export interface PluginHit {
  rule: PluginRule;
  /** '' when the rule gave none. */
  reason: string;
}

export interface PluginAnswer {
  hits: PluginHit[];
  /** The module, or one of its rules, gave no answer; what the others found still counts. */
  failed: boolean;
}

/** A module with a list `rules`, each `{id, severity, title, on, pattern}` or `{id, severity, title, find(call, context)}`. */
export class PluginModule {
  readonly #process: PluginProcess;
  #rules: Promise<PluginRule[] | null> | undefined;

  constructor(
    readonly name: string,
    source: string,
    limits: PluginLimits,
    private readonly channels: (surface: Surface) => Record<string, string[]> = channelsOf,
  ) {
    this.#process = new PluginProcess(source, limits);
  }

  /** Null when the module cannot be loaded or lists no rules in the right form. */
  rules(): Promise<PluginRule[] | null> {
    this.#rules ??= this.#process.describe().then((text) => read(Described, text));
    return this.#rules;
  }

  /** What it found in a call. */
  async look(
    name: string,
    surface: Surface,
    context: Pick<GuardInput, 'profile' | 'harness' | 'task'>,
  ): Promise<PluginAnswer> {
    const rules = await this.rules();
    if (rules === null) return { hits: [], failed: true };
    const call = { name, text: this.channels(surface) };
    const { profile, harness, task } = context;
    const answer = read(
      Looked,
      await this.#process.look(JSON.stringify({ call, context: { profile, harness, task } })),
    );
    const hits: PluginHit[] = [];
    let failed = answer === null;
    for (const each of answer ?? []) {
      const rule = rules[each.rule];
      if (rule === undefined || 'failed' in each) failed = true;
      else hits.push({ rule, reason: each.reason });
    }
    return { hits, failed };
  }

  stop(): void {
    this.#process.stop();
  }
}

export interface ModuleFindings {
  /** Of its rules that gave an answer, also where they found nothing. */
  ids: string[];
  findings: Finding[];
  /** A module that fails is itself a finding. */
  failures: Finding[];
}

/** What a module says of one call. */
export async function moduleFindings(
  module: PluginModule,
  name: string,
  surface: Surface,
  input: GuardInput,
): Promise<ModuleFindings> {
  const { hits, failed } = await module.look(name, surface, input);
  return {
    // What a module that failed did not find is unknown.
    ids: failed ? [] : ((await module.rules()) ?? []).map(({ id }) => id),
    findings: hits.map(({ rule, reason }) => ({
      rule: rule.id,
      severity: rule.severity,
      reason: printable(reason || rule.title || 'a plugin found it'),
      ...(rule.verdict && { verdict: rule.verdict }),
    })),
    failures: failed ? [pluginFailed(module.name, 'gave no answer')] : [],
  };
}

/** The call becomes suspicious: nobody knows what the plugin would have said. */
export function pluginFailed(name: string, what: string): Finding {
  return { rule: 'plugin.failed', severity: 'medium', reason: `the plugin ${printable(name)} ${what}` };
}

function read<T>(schema: z.ZodType<T>, text: string | null): T | null {
  if (text === null) return null;
  try {
    const parsed = schema.safeParse(JSON.parse(text));
    return parsed.success ? parsed.data : null;
  } catch {
    return null;
  }
}

function channelsOf(surface: Surface): Record<string, string[]> {
  return {
    command: [...new Set([...surface.scripts, ...surface.commands])],
    code: surface.code,
    read: surface.reads,
    write: surface.writes.map(({ path }) => path),
    payload: surface.payloads,
    url: surface.urls,
    query: surface.queries,
    argument: surface.others,
    host: surface.hosts,
  };
}

/** One line without control characters: it ends up in a notice to the model. */
function printable(text: string): string {
  return text.replace(/\p{Cc}+/gu, ' ').slice(0, 200);
}
