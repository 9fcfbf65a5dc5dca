/** `task.toml` of a Harbor task (schema 1.4, formats.md 4.1): the few keys Tackroom writes, and those it needs to run one. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, stringify } from 'smol-toml';
import { z } from 'zod';
import { TackroomError } from '../../contract/errors.js';

export const WORK_DIR = '/work';
export const TESTS_DIR = '/tests';
export const SOLUTION_DIR = '/solution';
export const LOGS_DIR = '/logs/verifier';

const DEFAULT_VERIFIER_SECONDS = 600;
const Config = z.looseObject({
  task: z.looseObject({ name: z.string() }).optional(),
  metadata: z.record(z.string(), z.unknown()).default({}),
  verifier: z
    .looseObject({
      timeout_sec: z.number().positive().default(DEFAULT_VERIFIER_SECONDS),
      env: z.record(z.string(), z.string()).default({}),
    })
    .default({ timeout_sec: DEFAULT_VERIFIER_SECONDS, env: {} }),
  environment: z
    .looseObject({ workdir: z.string().startsWith('/').optional(), memory_mb: z.number().positive().optional() })
    .default({}),
  solution: z.looseObject({ env: z.record(z.string(), z.string()).default({}) }).default({ env: {} }),
});

export interface TaskConfig {
  name: string | null;
  /** `metadata.category`: `data`, `repair`, or whatever an imported task says. */
  category: string | null;
  workdir: string;
  verifierSeconds: number;
  verifierEnv: Record<string, string>;
  solutionEnv: Record<string, string>;
  memoryBytes: number;
}

const MIB = 1024 * 1024;
const DEFAULT_MEMORY_MB = 1024;

/** Reads what is needed to run a task. NOT_FOUND without a task.toml, BAD_ARGUMENT for one that is malformed. */
export function readTaskConfig(taskDir: string): TaskConfig {
  let text: string;
  try {
    text = readFileSync(join(taskDir, 'task.toml'), 'utf8');
  } catch (cause) {
    throw new TackroomError('NOT_FOUND', `${taskDir} is not a task folder: it has no readable task.toml.`, undefined, {
      cause,
    });
  }
  try {
    const config = Config.parse(parse(text));
    return {
      name: config.task?.name ?? null,
      category: typeof config.metadata.category === 'string' ? config.metadata.category : null,
      workdir: config.environment.workdir ?? WORK_DIR,
      verifierSeconds: config.verifier.timeout_sec,
      verifierEnv: config.verifier.env,
      solutionEnv: config.solution.env,
      memoryBytes: (config.environment.memory_mb ?? DEFAULT_MEMORY_MB) * MIB,
    };
  } catch (cause) {
    const detail =
      cause instanceof z.ZodError ? (cause.issues[0]?.message ?? '') : String((cause as Error).message).split('\n')[0];
    throw new TackroomError('BAD_ARGUMENT', `The task.toml of ${taskDir} cannot be used: ${detail}.`, undefined, {
      cause,
    });
  }
}

export interface NewTaskConfig {
  /** `tackroom/slug`. */
  name: string;
  description: string;
  category: string;
  keywords: string[];
  metadata: Record<string, string | number | boolean | string[]>;
  agentSeconds: number;
  verifierSeconds: number;
}

/**
 * Text of a task.toml. The verifier is a container of its own that gets only the working directory of the agent, so
 * that nothing the agent plants outside of it (interpreters, site packages, background processes) reaches the tests.
 * `version` stands beside `schema_version` because Repo2RLEnv's validator asks for it and Harbor accepts both.
 */
export function taskToml(task: NewTaskConfig): string {
  return stringify({
    version: '1.0',
    schema_version: '1.4',
    artifacts: [WORK_DIR],
    task: {
      name: task.name,
      version: '1.0.0',
      description: task.description,
      authors: [{ name: 'Tackroom' }],
      keywords: task.keywords,
    },
    metadata: { category: task.category, ...task.metadata },
    agent: { timeout_sec: task.agentSeconds },
    verifier: { timeout_sec: task.verifierSeconds, environment_mode: 'separate' },
    environment: {
      build_timeout_sec: 600,
      cpus: 1,
      memory_mb: DEFAULT_MEMORY_MB,
      storage_mb: 2048,
      network_mode: 'no-network',
      workdir: WORK_DIR,
    },
  });
}

/** A name part Harbor accepts: letters, digits, `.`, `_`, `-`, starting with a letter or digit. */
export function slug(text: string): string {
  return (
    text
      .replace(/[^A-Za-z0-9._-]+/g, '-')
      .replace(/^[^A-Za-z0-9]+/, '')
      .replace(/\.{2,}/g, '.')
      .slice(0, 80) || 'x'
  );
}
