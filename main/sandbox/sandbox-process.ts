/** A running sandbox, whichever driver started it: its streams, its end, and what runs inside. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { TackroomError } from '../../contract/errors.js';
import type { SandboxCgroups } from './cgroups.js';
import { descendants, type HostProcess, identity } from './process-tree.js';
import type { SandboxExit, SandboxProcess, SandboxSpec } from './sandbox.js';

const STRAY_ROUNDS = 200;
const STRAY_PAUSE_MS = 3;

export interface Launch {
  argv: string[];
  env: Record<string, string>;
  /** Texts the command reads from descriptors 3, 4, … */
  texts: string[];
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
    private readonly spec: SandboxSpec,
    cgroups: SandboxCgroups,
  ) {
    this.stdin = child.stdin as Writable;
    this.stdout = child.stdout as Readable;
    this.stderr = child.stderr as Readable;
    // A command that ends without reading its input is no error of ours.
    this.stdin.on('error', () => undefined);
    this.exit = this.#watch(cgroups);
  }

  async #watch(cgroups: SandboxCgroups): Promise<SandboxExit> {
    const ended = once(this.child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
    const { wallMs } = this.spec.limits;
    const timer = wallMs === null ? undefined : setTimeout(() => this.#endByWall(), wallMs);
    const [code, endSignal] = await ended;
    clearTimeout(timer);
    const memory = code !== 0 && cgroups.hitMemoryLimit();
    await cgroups.remove();
    return { code, signal: endSignal, limit: this.#wallReached ? 'wall' : memory ? 'memory' : null };
  }

  #endByWall(): void {
    this.#wallReached = true;
    this.kill();
  }

  /** The launcher outside is not in it; the first entry is process 1. */
  #inside(): HostProcess[] {
    return this.child.pid === undefined ? [] : descendants(this.child.pid);
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
    const pid = this.child.pid;
    if (pid === undefined || this.child.exitCode !== null || this.child.signalCode !== null) return;
    // The end of process 1 ends all of its namespace; the launcher outside then collects it, so `exit` is the end of all.
    const init = descendants(pid).find((found) => found.parent === pid);
    signal(init?.pid ?? pid, 'SIGKILL');
  }
}

/** Starts `launch` and wraps it. Errors: NO_SANDBOX when the program cannot be started. */
export async function startSandbox(
  spec: SandboxSpec,
  launch: Launch,
  cgroups: SandboxCgroups,
): Promise<SandboxProcess> {
  const [file = '', ...args] = launch.argv;
  const child = spawn(file, args, {
    env: launch.env,
    stdio: ['pipe', 'pipe', 'pipe', ...launch.texts.map(() => 'pipe' as const)],
  });
  launch.texts.forEach((text, at) => {
    const pipe = child.stdio[at + 3] as Writable;
    pipe.on('error', () => undefined);
    pipe.end(text);
  });
  const running = new RunningSandbox(child, spec, cgroups);
  try {
    await once(child, 'spawn');
  } catch (cause) {
    await cgroups.remove();
    throw new TackroomError(
      'NO_SANDBOX',
      `The sandbox ${spec.name} could not be started.`,
      `Check that ${file} can be run.`,
      { cause },
    );
  }
  return running;
}
