/** Reads what a verifier left in its log folder. Order and forms: Harbor 0.25 (formats.md 4.2, formats-checked.md 3). */
import { existsSync, lstatSync } from 'node:fs';
import { join } from 'node:path';
import { readRegularFile } from './copy-work.js';

export interface Reward {
  /** null: there is no score, which is not a score of 0. */
  reward: number | null;
  /** Why there is none. */
  error: string | null;
}

const LIMIT_BYTES = 64 * 1024;
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/** `reward.json` ({name: number}, flat) first, then `reward.txt` (one number). */
export function readReward(logsDir: string): Reward {
  for (const [name, parse] of [
    ['reward.json', parseJson],
    ['reward.txt', parseText],
  ] as const) {
    const path = join(logsDir, name);
    if (!exists(path)) continue;
    const file = readRegularFile(path, LIMIT_BYTES);
    if (!file) return none(`${name} is not a regular file of at most ${LIMIT_BYTES} bytes`);
    return parse(file.bytes.toString('utf8'), name);
  }
  return none('the tests left no reward file');
}

function parseJson(text: string, name: string): Reward {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return none(`${name} is not JSON`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return none(`${name} is not a JSON object`);
  const entries = Object.entries(value);
  if (entries.some(([, number]) => typeof number !== 'number' || !Number.isFinite(number)))
    return none(`${name} holds something that is no finite number`);
  const chosen = entries.length === 1 ? entries[0] : entries.find(([key]) => key === 'reward');
  return chosen ? { reward: chosen[1] as number, error: null } : none(`${name} has no key "reward"`);
}

function parseText(text: string, name: string): Reward {
  const trimmed = text.trim();
  if (trimmed === '') return none(`${name} is empty`);
  return NUMBER.test(trimmed) && Number.isFinite(Number(trimmed))
    ? { reward: Number(trimmed), error: null }
    : none(`${name} is no finite number`);
}

/** Also true for a dangling link, which must not fall through to the next file. */
function exists(path: string): boolean {
  return existsSync(path) || lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

const none = (error: string): Reward => ({ reward: null, error });
