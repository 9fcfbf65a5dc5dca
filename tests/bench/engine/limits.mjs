/** Compiles and runs limits.cc: read bandwidth and arithmetic of this machine, in this run. */
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { json, output, policies } from './process.mjs';

const here = dirname(fileURLToPath(import.meta.url));
/** A buffer far larger than any cache. */
const LARGE = 512 << 20;

/**
 * @param {number[]} sizes bytes of the weights that will be read: the limit of decoding is that of a buffer of this size
 * @returns {{ read: {bytes, threads, gbs}[], compute: Record<string, number> }} best of the policies; GB/s and 1e9 operations/s
 */
export async function measureLimits(buildDir, threads, sizes) {
  const source = join(here, 'limits.cc');
  const binary = join(buildDir, 'limits');
  mkdirSync(buildDir, { recursive: true });
  if (!existsSync(binary) || statSync(binary).mtimeMs < statSync(source).mtimeMs)
    await output(process.env.CXX ?? 'c++', ['-std=c++20', '-O3', '-march=native', source, '-o', binary, '-lpthread']);
  const merged = { read: [], compute: {} };
  for (const policy of [...policies(), ...policies()]) {
    const found = await json(binary, [String(threads), ...[...sizes, LARGE].map(String)], { policy });
    found.read.forEach((entry, i) => {
      merged.read[i] ??= entry;
      merged.read[i].gbs = Math.max(merged.read[i].gbs, entry.gbs);
    });
    for (const [kind, value] of Object.entries(found.compute))
      merged.compute[kind] = Math.max(merged.compute[kind] ?? 0, value);
  }
  return merged;
}

/** GB/s of the buffer nearest to `bytes`, by the better number of threads. */
export function readBandwidth(limits, bytes) {
  const nearest = limits.read.reduce((a, b) => (Math.abs(b.bytes - bytes) < Math.abs(a.bytes - bytes) ? b : a)).bytes;
  return Math.max(...limits.read.filter((entry) => entry.bytes === nearest).map((entry) => entry.gbs));
}

/** 1e9 operations a second of the fastest arithmetic for a precision. */
export function peak(limits, precision) {
  const { fp32 = 0, bf16 = 0, int16 = 0, int8 = 0, amxBf16 = 0, amxInt8 = 0 } = limits.compute;
  if (precision === 'int8') return Math.max(int8, amxInt8, fp32);
  if (precision === 'int16') return Math.max(int16, fp32);
  return precision === 'bf16' ? Math.max(bf16, amxBf16, fp32) : fp32;
}
