/** Sessions of the real pi that a person could have had: one worker, its requests recorded under the origin `demo`. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { TackroomError } from '../../contract/errors.js';
import type { Sampling } from '../engine/protocol.js';
import type { PiInstall } from '../harness/find-pi.js';
import { PiWorker } from '../harness/pi.js';
import type { WorkerSummary } from '../proxy/protocol.js';
import type { SandboxDriver } from '../sandbox/sandbox.js';
import type { Services } from '../services/services.js';

export interface Scene {
  title: string;
  files: Record<string, string>;
  prompt: string;
  adapter: string | null;
  sampling: Sampling;
  /** Another server that plays the model. */
  upstream: string | null;
  maxPromptTokens: number;
}

export interface Take {
  summary: WorkerSummary;
  seconds: number;
  /** Folder with what pi left; valid until the next scene. */
  workDir: string;
}

const NAME = 'demo-camera';
const MAX_CALLS = 15;
const DEADLINE_MS = 90_000;

export class Camera {
  private constructor(
    private readonly services: Services,
    private readonly worker: PiWorker,
  ) {}

  static async open(services: Services, driver: SandboxDriver, pi: PiInstall): Promise<Camera> {
    const socketDir = join(services.paths.sockets, NAME);
    rmSync(socketDir, { recursive: true, force: true });
    mkdirSync(socketDir, { recursive: true });
    await services.gateway('worker.open', { worker: NAME, path: join(socketDir, 'model.sock') });
    const worker = await PiWorker.start({
      name: NAME,
      driver,
      pi,
      dir: join(services.paths.rollouts, NAME),
      socketDir,
    });
    return new Camera(services, worker);
  }

  /** Errors: SERVICE_GONE, and what pi says when it does not come to an end. */
  async shoot(scene: Scene, signal: AbortSignal): Promise<Take> {
    await this.worker.reset();
    for (const [path, content] of Object.entries(scene.files)) {
      const file = join(this.worker.workDir, path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, content);
    }
    await this.services.gateway('worker.begin', {
      worker: NAME,
      harness: 'pi',
      origin: 'demo',
      rolloutId: null,
      title: scene.title,
      adapter: scene.adapter,
      sampling: scene.sampling,
      maxCalls: MAX_CALLS,
      maxPromptTokens: scene.maxPromptTokens,
      profile: 'desktop',
      upstream: scene.upstream,
    });
    const run = await this.worker.run(scene.prompt, { deadlineMs: DEADLINE_MS, signal });
    const summary = await this.services.gateway('worker.end', { worker: NAME });
    signal.throwIfAborted();
    if (!run.settled || run.error || summary.sessionIds.length === 0)
      throw new TackroomError(
        'SERVICE_GONE',
        `pi did not finish "${scene.title}": ${run.error ?? summary.error ?? 'nothing was recorded'}.`,
        'Start the demo again: it goes on with this session.',
      );
    await this.worker.quiet();
    return { summary, seconds: run.seconds, workDir: this.worker.workDir };
  }

  async close(): Promise<void> {
    await this.worker.close();
    await this.services.gateway('worker.close', { worker: NAME }).catch(() => undefined);
  }
}
