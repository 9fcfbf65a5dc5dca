/** The trajectory files of a scan, and the reward that a verifier left beside them. */
import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { TackroomError } from '../../../contract/errors.js';

const MAX_BYTES = 512 * 1024 * 1024;
const MAX_FILES = 100_000;

/** Files of `paths`; in a folder every file called `pattern` (`*` stands for anything), at any depth, in order. */
export async function trajectoryFiles(paths: readonly string[], pattern: string): Promise<string[]> {
  const name = new RegExp(`^${pattern.split('*').map(literally).join('.*')}$`);
  const out: string[] = [];
  for (const path of paths) {
    const info = await stat(path).catch((cause: unknown) => {
      throw new TackroomError('NOT_FOUND', `There is no ${path}.`, 'Name a trajectory file or a folder of them.', {
        cause,
      });
    });
    if (info.isDirectory()) await collect(path, name, out);
    else out.push(path);
  }
  return out;
}

async function collect(folder: string, name: RegExp, out: string[]): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true });
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    if (out.length >= MAX_FILES) return;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await collect(path, name, out);
    else if (entry.isFile() && name.test(entry.name)) out.push(path);
  }
}

function literally(text: string): string {
  return text.replace(/[.+^${}()|[\]\\?]/g, '\\$&');
}

export async function readJson(path: string): Promise<unknown> {
  if ((await stat(path)).size > MAX_BYTES) throw new Error('it is larger than 512 MB');
  return JSON.parse(await readFile(path, 'utf8')) as unknown;
}

/** `verifier/reward.json` before `reward.txt`, beside the trajectory or one level up; null where there is none. */
export async function rewardBeside(path: string): Promise<number | null> {
  const folder = dirname(resolve(path));
  for (const base of [folder, dirname(folder)])
    for (const name of ['reward.json', 'reward.txt']) {
      const text = await readFile(join(base, 'verifier', name), 'utf8').catch(() => null);
      if (text !== null) return rewardOf(text.slice(0, 10_000));
    }
  return null;
}

function rewardOf(text: string): number | null {
  try {
    const value: unknown = JSON.parse(text.trim());
    const number = value !== null && typeof value === 'object' ? (value as { reward?: unknown }).reward : value;
    return typeof number === 'number' && Number.isFinite(number) ? number : null;
  } catch {
    return null;
  }
}

/** The task of a trial folder `TASK__ID/agent/trajectory.json`. */
export function taskFromTrial(path: string): string | null {
  const folder = dirname(resolve(path));
  const trial = basename(basename(folder) === 'agent' ? dirname(folder) : folder);
  const match = /^(.+?)__[A-Za-z0-9]{4,}$/.exec(trial);
  return match?.[1] ?? null;
}
