/**
 * Memory and process limits for a whole sandbox through control groups, v1 or v2, where this user may make them.
 * Formats: the kernel's admin guide, cgroup-v1/memory, cgroup-v1/pids and cgroup-v2.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { SandboxLimits } from './sandbox.js';

export type CgroupVersion = 'cgroup-v1' | 'cgroup-v2';

/** Folders under which groups can be made: one in v2; memory and pids in v1. */
export interface CgroupHome {
  version: CgroupVersion;
  parents: string[];
}

const PREFIX = 'tackroom-';
/** Valid as bytes and as a number of processes. */
const PROBE_LIMIT = '1048576';
const REMOVE_ATTEMPTS = 500;
const REMOVE_PAUSE_MS = 20;
let counter = 0;

interface OwnGroup {
  controllers: string[];
  path: string;
}

function ownGroups(): OwnGroup[] {
  const lines = readFileSync('/proc/self/cgroup', 'utf8').trim().split('\n');
  return lines.map((line) => {
    const [, controllers = '', ...path] = line.split(':');
    return { controllers: controllers.split(','), path: path.join(':') };
  });
}

function tryMake(parent: string, needed: string[]): boolean {
  const dir = join(parent, `${PREFIX}${process.pid}-probe`);
  try {
    mkdirSync(dir);
  } catch {
    return false;
  }
  const usable = needed.every((file) => {
    try {
      writeFileSync(join(dir, file), PROBE_LIMIT);
      return true;
    } catch {
      return false;
    }
  });
  rmdirSync(dir);
  return usable;
}

/** The process's own group, then those above it: the first in which groups with `needed` files can be made. */
function usableParent(root: string, path: string, needed: string[]): string | null {
  const own = existsSync(join(root, path)) ? join(root, path) : root;
  for (let dir = own; dir.startsWith(root); dir = dirname(dir)) if (tryMake(dir, needed)) return dir;
  return null;
}

/** Removes groups of processes that were killed before they could do it. */
function sweep(parent: string): void {
  for (const name of readdirSync(parent)) {
    const owner = /^tackroom-(\d+)-/.exec(name)?.[1];
    if (!owner || existsSync(`/proc/${owner}`)) continue;
    try {
      rmdirSync(join(parent, name));
    } catch {
      // Another process sweeps as well, or something still runs in it: the next one will find it.
    }
  }
}

/** Where groups can be made here; null: nowhere, resource limits have to do. */
export function findCgroupHome(root = '/sys/fs/cgroup'): CgroupHome | null {
  const groups = ownGroups();
  const unified = groups.find((group) => group.controllers.join() === '');
  if (unified && existsSync(join(root, 'cgroup.controllers'))) {
    const parent = usableParent(root, unified.path, ['memory.max', 'pids.max']);
    if (!parent) return null;
    sweep(parent);
    return { version: 'cgroup-v2', parents: [parent] };
  }
  const parents: string[] = [];
  for (const [controller, file] of [
    ['memory', 'memory.limit_in_bytes'],
    ['pids', 'pids.max'],
  ] as const) {
    const own = groups.find((group) => group.controllers.includes(controller));
    const parent = own ? usableParent(join(root, controller), own.path, [file]) : null;
    if (!parent) return null;
    sweep(parent);
    parents.push(parent);
  }
  return { version: 'cgroup-v1', parents };
}

/** One sandbox's groups: made with its limits, joined by the launcher, removed when it is over. */
export class SandboxCgroups {
  private constructor(readonly dirs: string[]) {}

  static create(home: CgroupHome | null, limits: SandboxLimits): SandboxCgroups {
    if (!home) return new SandboxCgroups([]);
    const name = `${PREFIX}${process.pid}-${++counter}`;
    const groups = new SandboxCgroups(home.parents.map((parent) => join(parent, name)));
    for (const dir of groups.dirs) mkdirSync(dir);
    groups.#set('memory.max', limits.memoryBytes);
    groups.#set('memory.swap.max', 0);
    groups.#set('memory.limit_in_bytes', limits.memoryBytes);
    groups.#set('memory.memsw.limit_in_bytes', limits.memoryBytes);
    groups.#set('pids.max', limits.processes);
    return groups;
  }

  #set(file: string, value: number): void {
    for (const dir of this.dirs) if (existsSync(join(dir, file))) writeFileSync(join(dir, file), String(value));
  }

  /** True once the kernel killed a process of the sandbox for its memory. */
  hitMemoryLimit(): boolean {
    return this.dirs.some((dir) =>
      ['memory.events', 'memory.oom_control'].some((name) => {
        const file = join(dir, name);
        return existsSync(file) && Number(/^oom_kill (\d+)$/m.exec(readFileSync(file, 'utf8'))?.[1] ?? 0) > 0;
      }),
    );
  }

  /**
   * Waits until the last process has left, then removes the groups. One that cannot be removed in ten seconds is left
   * to the sweep of the next start.
   */
  async remove(): Promise<void> {
    for (const dir of this.dirs) {
      for (let attempt = 1; attempt <= REMOVE_ATTEMPTS; attempt++) {
        try {
          rmdirSync(dir);
          break;
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code === 'ENOENT') break;
          await new Promise((resolve) => setTimeout(resolve, REMOVE_PAUSE_MS));
        }
      }
    }
  }
}
