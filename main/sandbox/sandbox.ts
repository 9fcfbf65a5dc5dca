/**
 * One interface for running untrusted commands: own process, mount, network and IPC namespaces, no network but what a
 * mounted unix socket gives, limits on memory, processes and time. Drivers: bubblewrap, or user namespaces through
 * Tackroom's own launcher (`build/native/sandbox-launch`) where bubblewrap is missing.
 */
import type { Readable, Writable } from 'node:stream';

export interface Mount {
  source: string;
  target: string;
  readonly: boolean;
}

export interface SandboxLimits {
  /** Bytes for the whole sandbox where cgroups are writable, else private writable memory of each process. */
  memoryBytes: number;
  processes: number;
  /** CPU seconds of one process (resource limit). */
  cpuSeconds: number;
  /** Size of one file, bytes. */
  fileBytes: number;
  /** The sandbox is killed after this. null: lives until closed. */
  wallMs: number | null;
}

export interface SandboxSpec {
  argv: string[];
  env: Record<string, string>;
  cwd: string;
  /** Besides the read-only system (/usr, /bin, /lib*, needed parts of /etc, python3, private /dev, /proc, /tmp). */
  mounts: Mount[];
  limits: SandboxLimits;
  /** Name shown in errors and progress. */
  name: string;
}

/** A command killed by signal N inside gives code 128 + N; `signal` tells of the sandbox itself. */
export interface SandboxExit {
  code: number | null;
  signal: NodeJS.Signals | null;
  /** Why it ended when a limit did it. */
  limit: 'wall' | 'memory' | null;
}

export interface SandboxProcess {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Resolves when the first process and with it the whole sandbox is gone. */
  readonly exit: Promise<SandboxExit>;
  /**
   * Process 1 and what now runs directly under it (the command and its daemons) belong to the sandbox: `killStrays`
   * spares them, `intact` asks whether all of them still run.
   */
  keepRunning(): void;
  intact(): boolean;
  /**
   * Kills every process inside that is not kept (before `keepRunning`: all but process 1 and the command) until none
   * is left. Returns how many there were. Throws BUSY when new ones appear faster than they can be stopped.
   */
  killStrays(): Promise<number>;
  kill(): void;
}

export interface SandboxDriver {
  readonly name: 'bubblewrap' | 'userns';
  /** How limits are enforced here: cgroup-v1, cgroup-v2 or rlimit. */
  readonly limits: 'cgroup-v1' | 'cgroup-v2' | 'rlimit';
  spawn(spec: SandboxSpec): Promise<SandboxProcess>;
}
