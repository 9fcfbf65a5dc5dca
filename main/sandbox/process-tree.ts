/**
 * The processes of a sandbox as the host sees them, from /proc/PID/stat (proc(5)).
 *
 * Every process of a process namespace descends from its process 1, whose orphans it adopts, and so do those of
 * namespaces made inside it. Walking the parent links therefore finds all of them, whatever they do to hide.
 */
import { readdirSync, readFileSync } from 'node:fs';

export interface HostProcess {
  pid: number;
  parent: number;
  /** One letter, `Z` for a process that ended and waits to be collected. */
  state: string;
  /** Clock ticks since boot: with the pid it names a process for good. */
  startTicks: string;
}

/** Names a process for good, also after its pid is used again. */
export const identity = (process: HostProcess): string => `${process.pid}:${process.startTicks}`;

function readProcess(pid: number): HostProcess | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name is in parentheses and may hold anything, also parentheses and spaces.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return { pid, state: fields[0] ?? '', parent: Number(fields[1]), startTicks: fields[19] ?? '' };
  } catch {
    return null;
  }
}

/** `root`'s descendants that still run (zombies are left out), parents before children; `root` itself is not in it. */
export function descendants(root: number): HostProcess[] {
  const children = new Map<number, HostProcess[]>();
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    const found = Number.isInteger(pid) ? readProcess(pid) : null;
    if (!found) continue;
    const siblings = children.get(found.parent);
    if (siblings) siblings.push(found);
    else children.set(found.parent, [found]);
  }
  const order: HostProcess[] = [...(children.get(root) ?? [])];
  for (let at = 0; at < order.length; at++) order.push(...(children.get((order[at] as HostProcess).pid) ?? []));
  return order.filter((process) => process.state !== 'Z' && process.state !== 'X');
}
