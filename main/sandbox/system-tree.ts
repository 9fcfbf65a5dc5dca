/** The read-only system every sandbox sees, as a list both drivers translate into their own options. */
import { existsSync, lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { LAUNCHER_INSIDE } from './launcher.js';
import type { Python } from './python.js';
import type { SandboxSpec } from './sandbox.js';

export type TreeEntry =
  | { kind: 'ro' | 'rw'; source: string; target: string }
  | { kind: 'symlink'; text: string; target: string }
  | { kind: 'tmpfs'; bytes: number; target: string }
  | { kind: 'file'; content: string; target: string };

export interface SystemParts {
  launcher: string;
  python: Python | null;
}

const ROOT_LINKS = ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'];
const ETC_FILES = ['/etc/ld.so.cache', '/etc/ld.so.conf', '/etc/ld.so.conf.d', '/etc/alternatives', '/etc/localtime'];
/** Nothing of the host's users, names or resolvers; the one user is 1000 in both drivers. */
const GENERATED: Record<string, string> = {
  '/etc/passwd': 'agent:x:1000:1000:agent:/home/agent:/bin/bash\nnobody:x:65534:65534:nobody:/:/usr/sbin/nologin\n',
  '/etc/group': 'agent:x:1000:\nnogroup:x:65534:\n',
  '/etc/hosts': '127.0.0.1 localhost sandbox\n',
  '/etc/nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files\n',
};
const MEBIBYTE = 1024 * 1024;

function rootEntry(path: string): TreeEntry[] {
  if (!existsSync(path)) return [];
  if (lstatSync(path).isSymbolicLink()) return [{ kind: 'symlink', text: readlinkSync(path), target: path }];
  return [{ kind: 'ro', source: path, target: path }];
}

/** Everything a sandbox's file tree holds, in mount order: the system, then the mounts of `spec`. */
export function sandboxTree(spec: SandboxSpec, parts: SystemParts): TreeEntry[] {
  const taken = new Set(spec.mounts.map((mount) => mount.target));
  const prefix = parts.python?.prefix ?? null;
  const tmpfs: TreeEntry[] = [
    { kind: 'tmpfs', bytes: 256 * MEBIBYTE, target: '/tmp' },
    { kind: 'tmpfs', bytes: 64 * MEBIBYTE, target: '/dev/shm' },
  ];
  return [
    { kind: 'ro', source: '/usr', target: '/usr' },
    ...ROOT_LINKS.flatMap(rootEntry),
    ...ETC_FILES.filter((path) => existsSync(path)).map(
      (path): TreeEntry => ({ kind: 'ro', source: realpathSync(path), target: path }),
    ),
    ...Object.entries(GENERATED).map(([target, content]): TreeEntry => ({ kind: 'file', content, target })),
    ...tmpfs.filter((entry) => !taken.has(entry.target)),
    { kind: 'ro', source: parts.launcher, target: LAUNCHER_INSIDE },
    ...(prefix ? [{ kind: 'ro', source: prefix, target: prefix } as const] : []),
    ...spec.mounts.map((mount): TreeEntry => {
      const source = realpathSync(mount.source);
      return { kind: mount.readonly ? 'ro' : 'rw', source, target: mount.target };
    }),
  ];
}

/** The command's environment: what `spec` says, and a PATH that leads to the system's tools and python3. */
export function sandboxEnv(spec: SandboxSpec, parts: SystemParts): Record<string, string> {
  const bin = parts.python?.prefix ? `${parts.python.bin}:` : '';
  return { PATH: `${bin}/usr/local/bin:/usr/bin:/bin`, ...spec.env };
}
