/**
 * Driver over bubblewrap (bwrap(1), 0.5 or later). Tackroom's launcher stands before it, to join the control groups,
 * and behind it, to set the limits that count per user namespace and to close the remaining doors.
 */
import { execFileSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type CgroupHome, SandboxCgroups } from './cgroups.js';
import { LAUNCHER_INSIDE } from './launcher.js';
import { joinCgroups, processesUnlimited, resourceLimits } from './limit-options.js';
import type { SandboxDriver, SandboxProcess, SandboxSpec } from './sandbox.js';
import { startSandbox } from './sandbox-process.js';
import { type SystemParts, sandboxEnv, sandboxTree, type TreeEntry } from './system-tree.js';

const FIRST_TEXT_FD = 3;
const NAMESPACES = [
  '--unshare-user',
  '--unshare-ipc',
  '--unshare-pid',
  '--unshare-net',
  '--unshare-uts',
  '--unshare-cgroup-try',
];
const IDENTITY = ['--uid', '1000', '--gid', '1000', '--hostname', 'sandbox', '--cap-drop', 'ALL'];
/** With /proc: the global switches that a process of root's user id could write even without capabilities. */
const FILE_SYSTEMS = [
  ...['--dev', '/dev', '--proc', '/proc'],
  ...['sys', 'sysrq-trigger', 'irq', 'bus', 'fs'].flatMap((name) => [
    '--ro-bind-try',
    `/proc/${name}`,
    `/proc/${name}`,
  ]),
];

export function findBubblewrap(path = process.env.PATH ?? ''): string | null {
  for (const dir of path.split(delimiter).filter(Boolean)) {
    const file = join(dir, 'bwrap');
    try {
      accessSync(file, constants.X_OK);
      return file;
    } catch {
      // Not in this folder.
    }
  }
  return null;
}

/** The contents of generated files go through descriptors, collected in `texts`. */
function treeOption(entry: TreeEntry, texts: string[]): string[] {
  switch (entry.kind) {
    case 'ro':
      return ['--ro-bind', entry.source, entry.target];
    case 'rw':
      return ['--bind', entry.source, entry.target];
    case 'symlink':
      return ['--symlink', entry.text, entry.target];
    case 'tmpfs':
      return ['--perms', '1777', '--size', String(entry.bytes), '--tmpfs', entry.target];
    case 'file': {
      const fd = FIRST_TEXT_FD + texts.push(entry.content) - 1;
      return ['--perms', '0444', '--ro-bind-data', String(fd), entry.target];
    }
  }
}

export class BubblewrapDriver implements SandboxDriver {
  readonly name = 'bubblewrap';
  readonly limits: SandboxDriver['limits'];
  readonly #forbidUserNamespaces: string[];

  constructor(
    private readonly bwrap: string,
    private readonly parts: SystemParts,
    private readonly cgroupHome: CgroupHome | null,
  ) {
    this.limits = cgroupHome?.version ?? 'rlimit';
    const help = execFileSync(bwrap, ['--help'], { encoding: 'utf8' });
    this.#forbidUserNamespaces = help.includes('--disable-userns') ? ['--disable-userns'] : [];
  }

  spawn(spec: SandboxSpec): Promise<SandboxProcess> {
    const texts: string[] = [];
    const tree = sandboxTree(spec, this.parts).flatMap((entry) => treeOption(entry, texts));
    const cgroups = SandboxCgroups.create(this.cgroupHome, spec.limits);
    const options = [
      ...[...NAMESPACES, ...IDENTITY, ...this.#forbidUserNamespaces, '--die-with-parent', '--new-session'],
      ...[...FILE_SYSTEMS, ...tree, '--remount-ro', '/dev', '--remount-ro', '/', '--chdir', spec.cwd],
    ];
    // Through a descriptor: the arguments of process 1 are readable inside and would tell where things lie outside.
    const optionsFd = String(FIRST_TEXT_FD + texts.push(options.map((word) => `${word}\0`).join('')) - 1);
    const limits = resourceLimits(spec.limits, this.limits);
    const argv = [
      ...[this.parts.launcher, 'limit', ...joinCgroups(cgroups.dirs), '--', this.bwrap, '--args', optionsFd],
      ...['--', LAUNCHER_INSIDE, 'limit', '--harden', ...limits, '--', ...spec.argv],
    ];
    const env = sandboxEnv(spec, this.parts);
    return startSandbox(
      spec,
      { launcher: this.parts.launcher, argv, env, texts, countProcesses: processesUnlimited(this.limits) },
      cgroups,
    );
  }
}
