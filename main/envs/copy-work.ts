/**
 * Copies what an agent left behind to a place where a verifier may look at it. The tree is hostile: only regular files
 * and folders are copied, links and devices are skipped and never followed, and count, size and depth are capped.
 */
import { closeSync, constants, fstatSync, mkdirSync, openSync, readdirSync, readSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface CopyCaps {
  files: number;
  fileBytes: number;
  totalBytes: number;
  depth: number;
}
const MIB = 1024 * 1024;
export const WORK_CAPS: CopyCaps = { files: 5000, fileBytes: 16 * MIB, totalBytes: 64 * MIB, depth: 32 };

export interface CopyResult {
  files: number;
  bytes: number;
  /** Links, devices, unreadable entries and whatever was over a cap. */
  skipped: number;
}

/** Copies `source` into the existing or new folder `target`. What cannot be copied is skipped and counted, never an error. */
export function copyWork(source: string, target: string, caps: CopyCaps = WORK_CAPS): CopyResult {
  const result: CopyResult = { files: 0, bytes: 0, skipped: 0 };
  let entriesLeft = caps.files * 2;
  const visit = (from: string, to: string, depth: number): void => {
    mkdirSync(to, { recursive: true });
    let entries: ReturnType<typeof list>;
    try {
      entries = list(from);
    } catch {
      result.skipped++;
      return;
    }
    // Files before folders: a deep or crowded folder must not use up the count before the files beside it.
    for (const entry of entries.sort((a, b) => Number(a.isDirectory()) - Number(b.isDirectory()))) {
      if (entriesLeft-- <= 0) {
        result.skipped++;
        return;
      }
      const path = join(from, entry.name);
      if (entry.isDirectory() && depth < caps.depth) visit(path, join(to, entry.name), depth + 1);
      else if (entry.isFile()) copyFile(path, join(to, entry.name), caps, result);
      else result.skipped++;
    }
  };
  visit(source, target, 0);
  return result;
}

const list = (dir: string) => readdirSync(dir, { withFileTypes: true });

function copyFile(from: string, to: string, caps: CopyCaps, result: CopyResult): void {
  const content =
    result.files < caps.files ? readRegularFile(from, Math.min(caps.fileBytes, caps.totalBytes - result.bytes)) : null;
  if (content === null) {
    result.skipped++;
    return;
  }
  writeFileSync(to, content.bytes, { mode: content.executable ? 0o755 : 0o644, flag: 'wx' });
  result.files++;
  result.bytes += content.bytes.length;
}

/** The bytes of a regular file of at most `limit` bytes, else null. Never follows a link, never blocks on a pipe. */
export function readRegularFile(path: string, limit: number): { bytes: Buffer; executable: boolean } | null {
  let handle: number;
  try {
    handle = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    return null;
  }
  try {
    const info = fstatSync(handle);
    if (!info.isFile() || info.size > limit) return null;
    const bytes = Buffer.allocUnsafe(info.size);
    let length = 0;
    for (let n = -1; length < info.size && n !== 0; length += n)
      n = readSync(handle, bytes, length, info.size - length, length);
    return { bytes: bytes.subarray(0, length), executable: (info.mode & 0o100) !== 0 };
  } catch {
    return null;
  } finally {
    closeSync(handle);
  }
}
