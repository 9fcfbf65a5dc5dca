/** What the pool needs of a task: its start state, its question, and its score. */
import { materializeTask, scoreWork } from '../envs/score.js';
import type { SandboxDriver } from '../sandbox/sandbox.js';

export interface Scorer {
  /** Copies the start state into `workDir` (there, empty) and returns what the agent is asked to do. */
  materialize(taskDir: string, workDir: string): Promise<{ instruction: string }>;
  /** Scores what the agent left in `workDir`, in a sandbox of its own on a copy. `reward` null: no score, see `error`. */
  score(
    taskDir: string,
    workDir: string,
    options: { driver: SandboxDriver; signal?: AbortSignal },
  ): Promise<{ reward: number | null; error?: string | null }>;
}

/** Harbor task folders. */
export const harborScorer: Scorer = { materialize: materializeTask, score: scoreWork };
