/** Memory that a model would take and memory that there is, before anything is loaded. */
import { readFileSync } from 'node:fs';
import { freemem } from 'node:os';
import { join } from 'node:path';
import { TackroomError } from '../../contract/errors.js';
import { inspectModel, type ModelSummary } from './inspect.js';

const CGROUP = '/sys/fs/cgroup';
/** Left to the rest of the process and to the system. */
const RESERVE_BYTES = 256 * 1024 * 1024;
/** The shortest context worth serving. */
const LEAST_CONTEXT = 1024;

function numberIn(file: string): number | null {
  try {
    const value = Number(readFileSync(file, 'utf8').trim());
    return Number.isFinite(value) ? value : null;
  } catch {
    return null;
  }
}

/** What a container may still take: its limit less what it uses, files that can be dropped left out. null: no limit. */
export function cgroupFree(root = CGROUP): number | null {
  for (const [dir, limitFile, usedFile, droppable] of [
    [root, 'memory.max', 'memory.current', 'inactive_file'],
    [join(root, 'memory'), 'memory.limit_in_bytes', 'memory.usage_in_bytes', 'total_inactive_file'],
  ] as const) {
    const limit = numberIn(join(dir, limitFile));
    const used = numberIn(join(dir, usedFile));
    if (limit === null || used === null) continue;
    let cached = 0;
    try {
      const stat = readFileSync(join(dir, 'memory.stat'), 'utf8');
      cached = Number(new RegExp(`^${droppable} (\\d+)`, 'm').exec(stat)?.[1] ?? 0);
    } catch {
      // Without the count all that is used counts as needed.
    }
    return Math.max(0, limit - used + cached);
  }
  return null;
}

/** Bytes that a new process may take: what the system has free, or less in a container. */
export function freeMemory(): number {
  return Math.min(freemem(), cgroupFree() ?? Number.POSITIVE_INFINITY);
}

const gib = (bytes: number): string => `${(bytes / 2 ** 30).toFixed(bytes < 10 * 2 ** 30 ? 1 : 0)} GiB`;

/** Throws OUT_OF_MEMORY when the model with a short context cannot fit. Errors of reading its files are left to loading. */
export function checkFits(path: string, freeBytes = freeMemory()): void {
  let summary: ModelSummary;
  try {
    summary = inspectModel(path);
  } catch {
    return;
  }
  // The file is the least the weights take, in whatever form the engine keeps them.
  const need =
    summary.fileBytes + Math.min(LEAST_CONTEXT, summary.contextLength) * summary.memory.kvBytesPerToken + RESERVE_BYTES;
  if (need <= freeBytes) return;
  throw new TackroomError(
    'OUT_OF_MEMORY',
    `The model ${summary.name} needs about ${gib(need)} of memory; ${gib(freeBytes)} are free.`,
    'Close other programs, or use a smaller model or a file of fewer bits a weight (Q4 needs about a quarter of F16).',
  );
}
