/** What the stages of the demo share. */
import type { App } from '../cli/app.js';
import type { Progress } from '../cli/progress.js';
import type { PiInstall } from '../harness/find-pi.js';
import type { SandboxDriver } from '../sandbox/sandbox.js';
import type { DemoPlan } from './plan.js';
import type { DemoState } from './state.js';

export interface DemoContext {
  app: App;
  plan: DemoPlan;
  state: DemoState;
  seed: number;
  driver: SandboxDriver;
  pi: PiInstall;
  progress: Progress;
  signal: AbortSignal;
  /** Prints a line of the story. */
  say(text: string): void;
}
