/** A running sandbox, whichever driver started it: its streams, its end, and what runs inside. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Duplex, Readable, Writable } from 'node:stream';
import { TackroomError } from '../../contract/errors.js';
import type { SandboxCgroups } from './cgroups.js';
import { descendants, type HostProcess, identity } from './process-tree.js';
import type { SandboxExit, SandboxProcess, SandboxSpec } from './sandbox.js';

const STRAY_ROUNDS = 200;
const STRAY_PAUSE_MS = 3;
const PROCESS_COUNT_MS = 200;
/** After the three standard ones. */
const FIRST_FD = 3;

export interface Launch {
  /** Host path of Tackroom's launcher; it guards what `argv` starts. */
  launcher: string;
  argv: string[];
  env: Record<string, string>;
  /** Texts the command reads from descriptors 3, 4, …. */
  texts: string[];
  /** Nothing else limits the number of processes here: count them, and end the sandbox when there are too many. */
  countProcesses: boolean;
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

class RunningSandbox implements SandboxProcess {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly exit: Promise<SandboxExit>;
  #kept: Set<string> | undefined;
  #wallReached = false;

  constructor(
    private readonly child: ChildProcess,
    private readonly lifeline: Duplex,
    private readonly spec: SandboxSpec,
    cgroups: SandboxCgroups,
    countProcesses: boolean,
  ) {
    this.stdin = child.stdin as Writable;
    this.stdout = child.stdout as Readable;
    this.stderr = child.stderr as Readable;
    // A command that ends without reading its input is no error of ours.
    this.stdin.on('error', () => undefined);
    this.exit = this.#watch(cgroups, countProcesses);
  }

  async #watch(cgroups: SandboxCgroups, countProcesses: boolean): Promise<SandboxExit> {
    const ended = once(this.child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
    const { wallMs } = this.spec.limits;
    const timer = wallMs === null ? undefined : setTimeout(() => this.#endByWall(), wallMs);
    const counter = countProcesses ? setInterval(() => this.#endByNumber(), PROCESS_COUNT_MS) : undefined;
    const [code, endSignal] = await ended;
    clearTimeout(timer);
    clearInterval(counter);
    this.lifeline.destroy();
    const memory = code !== 0 && cgroups.hitMemoryLimit();
    await cgroups.remove();
    return { code, signal: endSignal, limit: this.#wallReached ? 'wall' : memory ? 'memory' : null };
  }

  #endByWall(): void {
    this.#wallReached = true;
    this.kill();
  }

  #endByNumber(): void {
    if (this.#inside().length > this.spec.limits.processes) this.kill();
  }

  /** Without the guard and the launcher under it, which stand outside; the first entry is process 1. */
  #inside(): HostProcess[] {
    return this.child.pid === undefined ? [] : descendants(this.child.pid).slice(1);
  }

  keepRunning(): void {
    const inside = this.#inside();
    const init = inside[0];
    this.#kept = new Set(inside.filter((found) => found === init || found.parent === init?.pid).map(identity));
  }

  intact(): boolean {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return false;
    const running = new Set(this.#inside().map(identity));
    return [...(this.#kept ?? [])].every((id) => running.has(id));
  }

  #strays(): HostProcess[] {
    const inside = this.#inside();
    const init = inside[0];
    const command = inside.find((found) => found.parent === init?.pid);
    return inside.filter((found) =>
      this.#kept ? !this.#kept.has(identity(found)) : found !== init && found !== command,
    );
  }

  async killStrays(): Promise<number> {
    const stopped = new Set<string>();
    for (let round = 0; round < STRAY_ROUNDS; round++) {
      const strays = this.#strays();
      if (strays.length === 0) return stopped.size;
      // Stopped processes keep their place in the process limit, so whatever multiplies runs into it before the kill.
      const moving = strays.filter((stray) => !stopped.has(identity(stray)));
      for (const stray of moving) stopped.add(identity(stray));
      if (moving.length > 0) for (const stray of moving) signal(stray.pid, 'SIGSTOP');
      else for (const stray of strays) signal(stray.pid, 'SIGKILL');
      await new Promise((resolve) => setTimeout(resolve, STRAY_PAUSE_MS));
    }
    throw new TackroomError(
      'BUSY',
      `Processes in the sandbox ${this.spec.name} could not be stopped.`,
      'It has to be ended as a whole.',
    );
  }

  kill(): void {
    // The guard sees it and kills everything; also when this process is gone, which closes it as well.
    this.lifeline.destroy();
  }
}

/** Starts `launch` and wraps it. Errors: NO_SANDBOX when the program cannot be started. */
export async function startSandbox(
  spec: SandboxSpec,
  launch: Launch,
  cgroups: SandboxCgroups,
): Promise<SandboxProcess> {
  const lifelineFd = FIRST_FD + launch.texts.length;
  const child = spawn(launch.launcher, ['guard', String(lifelineFd), '--', ...launch.argv], {
    env: launch.env,
    stdio: ['pipe', 'pipe', 'pipe', ...launch.texts.map(() => 'pipe' as const), 'pipe'],
  });
  launch.texts.forEach((text, at) => {
    const pipe = child.stdio[FIRST_FD + at] as Writable;
    pipe.on('error', () => undefined);
    pipe.end(text);
  });
  const lifeline = child.stdio[lifelineFd] as Duplex;
  lifeline.on('error', () => undefined);
  try {
    await once(child, 'spawn');
  } catch (cause) {
    await cgroups.remove();
    throw new TackroomError(
      'NO_SANDBOX',
      `The sandbox ${spec.name} could not be started.`,
      `Check that ${launch.launcher} can be run.`,
      { cause },
    );
  }
  return new RunningSandbox(child, lifeline, spec, cgroups, launch.countProcesses);
}
