/** Sessions of the real pi that a person could have had: one worker, its requests recorded under the origin `demo`. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { TackroomError } from '../../contract/errors.js';
import type { Sampling } from '../engine/protocol.js';
import type { PiInstall } from '../harness/find-pi.js';
import { PiWorker } from '../harness/pi.js';
import type { WorkerSummary } from '../proxy/protocol.js';
import { WorkerSocket } from '../rollout/worker-socket.js';
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
const ATTEMPTS = 3;

export class Camera {
  private constructor(
    private readonly socket: WorkerSocket,
    private readonly worker: PiWorker,
  ) {}

  static async open(services: Services, driver: SandboxDriver, pi: PiInstall): Promise<Camera> {
    const socket = new WorkerSocket(services.gatewayClient, NAME, services.paths.sockets);
    const dir = join(services.paths.rollouts, NAME);
    const worker = await PiWorker.start({ name: NAME, driver, pi, dir, socketDir: socket.dir });
    return new Camera(socket, worker);
  }

  /** Shoots again what the end of a service spoiled. Errors: SERVICE_GONE, with what pi says when it does not finish. */
  async shoot(scene: Scene, signal: AbortSignal): Promise<Take> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#shootOnce(scene, signal);
      } catch (error) {
        // A gateway that was started again knows nothing of the session that was open: NOT_FOUND.
        const passing = error instanceof TackroomError && ['SERVICE_GONE', 'NOT_FOUND'].includes(error.code);
        if (!passing || signal.aborted || attempt === ATTEMPTS) throw error;
      }
    }
  }

  async #shootOnce(scene: Scene, signal: AbortSignal): Promise<Take> {
    await this.worker.reset();
    for (const [path, content] of Object.entries(scene.files)) {
      const file = join(this.worker.workDir, path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, content);
    }
    await this.socket.begin({
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
    const summary = await this.socket.end();
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
    await this.socket.close();
  }
}
