/**
 * pi as a rollout worker: one long-lived `pi --mode rpc` in one sandbox, used for one rollout after another. A new
 * process per rollout costs about nine times the CPU; in exchange `reset` has to remove every trace of the last one.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { TackroomError } from '../../contract/errors.js';
import type { SandboxDriver, SandboxLimits, SandboxProcess } from '../sandbox/sandbox.js';
import type { PiInstall } from './find-pi.js';
import { PiRpc } from './pi-rpc.js';
import { type PiRun, runPrompt } from './pi-run.js';
import { PI_LIMITS, spawnPi, writePiHome } from './pi-sandbox.js';
import { emptyFolder, makeScratch, type Scratch } from './scratch.js';

export interface PiWorkerOptions {
  name: string;
  driver: SandboxDriver;
  pi: PiInstall;
  /** Host folder of this worker alone; made, and removed by `close`. */
  dir: string;
  /** Host folder with the gateway's worker socket, `model.sock`. */
  socketDir: string;
  /** What pi sees as `tackroom/<id>`. Default `demo`. */
  modelId?: string;
  limits?: SandboxLimits;
  /** Starts without a settled run in between before the worker gives up. Default 5. */
  maxRestarts?: number;
}

interface Running {
  sandbox: SandboxProcess;
  rpc: PiRpc;
  /** Resolves with the reason when pi is gone. */
  gone: Promise<string>;
  alive: boolean;
}

const READY_TIMEOUT_MS = 60_000;
const STDERR_KEPT = 2000;
/** A pi that is killed before it answers gets another chance; one that cannot start fails again. */
const START_ATTEMPTS = 2;

export class PiWorker {
  readonly #scratch: Scratch;
  #running: Running | undefined;
  #starts = 0;
  #closed = false;

  private constructor(private readonly options: PiWorkerOptions) {
    this.#scratch = makeScratch(join(options.dir, 'scratch'));
  }

  /** Starts pi and waits until it answers. Errors: NO_SANDBOX, SERVICE_GONE with what pi said. */
  static async start(options: PiWorkerOptions): Promise<PiWorker> {
    const worker = new PiWorker(options);
    await worker.#ensureRunning();
    return worker;
  }

  /** Host folder that is /work inside. */
  get workDir(): string {
    return this.#scratch.work;
  }

  /**
   * Gives pi the prompt and waits until it has settled. Never rejects for what pi or the model does: that is in the
   * result. After a deadline pi is started anew before the next run. Errors: SERVICE_GONE when it cannot be started.
   */
  async run(prompt: string, options: { deadlineMs: number; signal?: AbortSignal }): Promise<PiRun> {
    const { sandbox, rpc, gone } = await this.#ensureRunning();
    const result = await runPrompt(rpc, gone, prompt, options);
    if (result.settled) this.#starts = 0;
    else {
      sandbox.kill();
      await sandbox.exit;
    }
    return result;
  }

  /** Ends whatever the rollout left running, so that nothing changes /work any more. */
  async quiet(): Promise<void> {
    if (this.#running?.alive) await this.#running.sandbox.killStrays();
  }

  /**
   * Makes the worker as new: strays killed, /work, home, /tmp and /dev/shm emptied, pi's configuration written again,
   * a new session. Where any of it fails, pi and its sandbox are started anew. Errors: SERVICE_GONE.
   */
  async reset(): Promise<void> {
    const running = this.#running;
    if (running?.alive) {
      try {
        await running.sandbox.killStrays();
        if (running.sandbox.intact()) {
          this.#clean();
          const answer = await running.rpc.call('new_session');
          if (answer.data?.cancelled !== true) return;
        }
      } catch {
        // Whatever it was, the way out is the same: a new sandbox. If that fails as well, its error tells.
      }
    }
    await this.#stop();
    await this.#ensureRunning();
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#stop();
    makeScratch(join(this.options.dir, 'scratch'));
    rmSync(this.options.dir, { recursive: true, force: true });
  }

  #clean(): void {
    for (const dir of Object.values(this.#scratch)) emptyFolder(dir);
    writePiHome(this.#scratch.home, this.options.modelId ?? 'demo');
  }

  async #stop(): Promise<void> {
    const running = this.#running;
    this.#running = undefined;
    if (!running) return;
    running.sandbox.kill();
    await running.sandbox.exit;
  }

  async #ensureRunning(): Promise<Running> {
    if (this.#running?.alive) return this.#running;
    if (this.#closed) throw new TackroomError('SERVICE_GONE', `The worker ${this.options.name} is closed.`);
    await this.#stop();
    for (let attempt = 1; ; attempt++) {
      try {
        this.#running = await this.#start();
        return this.#running;
      } catch (error) {
        if (attempt === START_ATTEMPTS || !(error instanceof TackroomError) || error.code !== 'SERVICE_GONE')
          throw error;
      }
    }
  }

  async #start(): Promise<Running> {
    const limit = this.options.maxRestarts ?? 5;
    if (this.#starts > limit)
      throw new TackroomError(
        'SERVICE_GONE',
        `pi ended ${this.#starts} times in a row in the worker ${this.options.name}.`,
        'Run `tackroom doctor`; it checks pi and the sandbox.',
      );
    this.#starts++;
    this.#clean();
    return this.#spawn();
  }

  async #spawn(): Promise<Running> {
    const { name, driver, pi, socketDir, modelId = 'demo', limits = PI_LIMITS } = this.options;
    const sandbox = await spawnPi({ name, driver, pi, scratch: this.#scratch, socketDir, modelId, limits });
    let stderr = '';
    sandbox.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr = (stderr + text).slice(-STDERR_KEPT);
    });
    const rpc = new PiRpc(sandbox.stdin, sandbox.stdout, () => sandbox.kill());
    const running: Running = { sandbox, rpc, alive: true, gone: Promise.resolve('') };
    running.gone = sandbox.exit.then((exit) => {
      running.alive = false;
      const how = exit.limit ? `its ${exit.limit} limit` : (exit.signal ?? `code ${exit.code}`);
      const reason = `pi ended (${how})${stderr.trim() ? `: ${stderr.trim().split('\n').slice(-3).join(' ')}` : ''}`;
      rpc.end(new TackroomError('SERVICE_GONE', `${reason}.`));
      return reason;
    });
    try {
      await rpc.call('get_state', {}, READY_TIMEOUT_MS);
    } catch (error) {
      sandbox.kill();
      await running.gone;
      throw error;
    }
    sandbox.keepRunning();
    return running;
  }
}
