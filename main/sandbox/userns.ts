/** Driver over Tackroom's own launcher: user namespaces without further tools. Needs Linux 5.12. */
import { type CgroupHome, SandboxCgroups } from './cgroups.js';
import { joinCgroups, processesUnlimited, resourceLimits } from './limit-options.js';
import type { SandboxDriver, SandboxProcess, SandboxSpec } from './sandbox.js';
import { startSandbox } from './sandbox-process.js';
import { type SystemParts, sandboxEnv, sandboxTree, type TreeEntry } from './system-tree.js';

function treeOption(entry: TreeEntry): string[] {
  switch (entry.kind) {
    case 'ro':
    case 'rw':
      return [`--${entry.kind}`, entry.source, entry.target];
    case 'symlink':
      return ['--symlink', entry.text, entry.target];
    case 'tmpfs':
      return ['--tmpfs', String(entry.bytes), entry.target];
    case 'file':
      return ['--file', entry.content, entry.target];
  }
}

export class UsernsDriver implements SandboxDriver {
  readonly name = 'userns';
  readonly limits: SandboxDriver['limits'];

  constructor(
    private readonly parts: SystemParts,
    private readonly cgroupHome: CgroupHome | null,
  ) {
    this.limits = cgroupHome?.version ?? 'rlimit';
  }

  spawn(spec: SandboxSpec): Promise<SandboxProcess> {
    const tree = sandboxTree(spec, this.parts).flatMap(treeOption);
    const cgroups = SandboxCgroups.create(this.cgroupHome, spec.limits);
    const limits = [...joinCgroups(cgroups.dirs), ...resourceLimits(spec.limits, this.limits)];
    const argv = [this.parts.launcher, 'isolate', ...tree, ...limits, '--chdir', spec.cwd, '--', ...spec.argv];
    const env = sandboxEnv(spec, this.parts);
    return startSandbox(
      spec,
      { launcher: this.parts.launcher, argv, env, texts: [], countProcesses: processesUnlimited(this.limits) },
      cgroups,
    );
  }
}
