/** What processes that were killed left in a home: sockets, folders of their rollout workers, half-written checkpoints. */
import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { HomePaths } from './paths.js';

/** Names carry the process they belong to: several may work in one home, each with services of its own. */
const OWNED = /^(?:engine-|gateway-|r)(\d+)(?:-\d+-\d+|\.sock)$/;
/** Folders that a save fills before they get their name; the engine's own have a serial number too. */
const STAGING = /\.tmp-(\d+)(?:-\d+)?$/;

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
export function removeLeftovers({
  sockets,
  rollouts,
  adapters,
  runs,
}: Pick<HomePaths, 'sockets' | 'rollouts' | 'adapters' | 'runs'>): void {
  for (const dir of [sockets, rollouts]) removeOwned(dir, OWNED);
  for (const dir of [adapters, ...readdirSync(runs).map((run) => join(runs, run))]) removeOwned(dir, STAGING);
}

function removeOwned(dir: string, owned: RegExp): void {
  if (!statSync(dir).isDirectory()) return;
  for (const name of readdirSync(dir)) {
    const owner = owned.exec(name)?.[1];
    if (owner && !isRunning(Number(owner))) rmSync(join(dir, name), { recursive: true, force: true });
  }
}
