/** The launcher's limit options (native/sandbox/launch.cpp). */
import type { SandboxDriver, SandboxLimits } from './sandbox.js';

const OPEN_FILES = 4096;

/**
 * Resource limits of each process. Without control groups memory is limited as private writable memory (RLIMIT_DATA):
 * address space would not do, since V8 reserves far more than it uses. Processes are counted per user namespace
 * (Linux 5.14 and later); for root's user id the kernel does not enforce that limit, so there, without a control
 * group, they are counted from outside.
 */
export function resourceLimits(limits: SandboxLimits, enforcedBy: SandboxDriver['limits']): string[] {
  return [
    ...['--cpu', String(Math.ceil(limits.cpuSeconds))],
    ...['--fsize', String(limits.fileBytes)],
    ...(enforcedBy === 'rlimit' ? ['--data', String(limits.memoryBytes)] : []),
    ...['--nproc', String(limits.processes)],
    ...['--nofile', String(OPEN_FILES)],
  ];
}

export const joinCgroups = (dirs: string[]): string[] => dirs.flatMap((dir) => ['--cgroup', dir]);

/** True where neither a control group nor the kernel's limit per user bounds the number of processes. */
export const processesUnlimited = (enforcedBy: SandboxDriver['limits']): boolean =>
  enforcedBy === 'rlimit' && process.geteuid?.() === 0;
