/** What processes that were killed left in a home: sockets, and the folders of their rollout workers. */
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { HomePaths } from './paths.js';

/** Names carry the process they belong to: several may work in one home, each with services of its own. */
const OWNED = /^(?:engine-|gateway-|r)(\d+)(?:-\d+-\d+|\.sock)$/;

export const engineSocketName = (): string => `engine-${process.pid}.sock`;
export const gatewaySocketName = (): string => `gateway-${process.pid}.sock`;

/** Sockets of all gateways that may be running in a home. */
export function gatewaySockets(paths: Pick<HomePaths, 'sockets'>): string[] {
  const names = readdirSync(paths.sockets).filter((name) => /^gateway-\d+\.sock$/.test(name));
  return names.map((name) => join(paths.sockets, name));
}

/** Another user's process counts as running. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Removes what belongs to no running process. */
export function removeLeftovers(paths: Pick<HomePaths, 'sockets' | 'rollouts'>): void {
  for (const dir of [paths.sockets, paths.rollouts])
    for (const name of readdirSync(dir)) {
      const owner = OWNED.exec(name)?.[1];
      if (owner && !isRunning(Number(owner))) rmSync(join(dir, name), { recursive: true, force: true });
    }
}
