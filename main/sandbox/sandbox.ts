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
  /** Bytes for the whole sandbox where cgroups are writable, else address space of each process. */
  memoryBytes: number;
  processes: number;
  /** CPU seconds of one process (rlimit). */
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
   * Kills every process inside except those whose command started with the sandbox (the leader, its helpers as given
   * in `keep` by pid inside or predicate), until none is left. Returns how many were killed.
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
