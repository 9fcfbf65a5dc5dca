/** Node.js, the native addon, the processor and the GPU driver. */
import { fork } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { CpuFeatures } from '../../../native/addon.js';
import { type Check, reasonOf } from './check.js';

const NODE_MAJOR = 20;
const PROBE_TIMEOUT_MS = 20_000;
/** Where Linux distributions put libraries; the loader's own cache covers the rest. */
const LIBRARY_DIRS = ['/usr/lib/x86_64-linux-gnu', '/usr/lib/aarch64-linux-gnu', '/usr/lib64', '/usr/lib/wsl/lib'];

export function checkNode(version = process.versions.node): Check {
  const ok = Number.parseInt(version, 10) >= NODE_MAJOR;
  return {
    id: 'node',
    title: 'Node.js',
    status: ok ? 'ok' : 'failed',
    detail: `${version}, ${process.platform} ${process.arch}`,
    hint: ok ? '' : `Install Node.js ${NODE_MAJOR} or newer.`,
  };
}

/** `scan`: why the byte scanner does not load; empty: it does. */
type Probed = ({ ok: true; cpu: CpuFeatures } | { ok: false; reason: string }) & { scan?: string };

/** Loads the addon in a child process: this process never holds native code, and a crash is only a finding. */
export function probeAddon(script: string): Promise<Probed> {
  return new Promise((resolve) => {
    const child = fork(script, [], { stdio: ['ignore', 'ignore', 'ignore', 'ipc'], timeout: PROBE_TIMEOUT_MS });
    let answer: Probed | undefined;
    child.on('message', (message) => {
      answer = message as Probed;
    });
    child.on('error', (error) => resolve({ ok: false, reason: reasonOf(error) }));
    child.on('close', (code, signal) =>
      resolve(answer ?? { ok: false, reason: `It ended the process that loaded it (${signal ?? `exit ${code}`}).` }),
    );
  });
}

export function checkAddon(probed: Probed): Check {
  return {
    id: 'addon',
    title: 'Native engine',
    status: probed.ok ? 'ok' : 'failed',
    detail: probed.ok
      ? `loads; ${probed.cpu.kernels} kernels, ${probed.cpu.threads} threads`
      : probed.reason.replace(/ Run: .*$/, ''),
    hint: probed.ok ? '' : 'Build it: npm run setup',
  };
}

export function checkScan({ scan = 'The process that loads it ended.' }: Probed): Check {
  return {
    id: 'scan',
    title: 'Scan of the sanitizer',
    status: scan === '' ? 'ok' : 'warning',
    detail:
      scan === '' ? 'native' : `in TypeScript, several times slower: ${scan.replace(/ Run: .*$/, '').split('\n')[0]}`,
    hint: scan === '' ? '' : 'Build it: npm run setup',
  };
}

export function checkCpu(probed: Probed): Check {
  const base = { id: 'cpu', title: 'Processor' };
  if (!probed.ok)
    return { ...base, status: 'warning', detail: 'unknown without the native engine', hint: 'Build it: npm run setup' };
  const { brand, avx2, avx512, avx512bf16, amx } = probed.cpu;
  const features = Object.entries({ AVX2: avx2, 'AVX-512': avx512, 'AVX512-BF16': avx512bf16, AMX: amx });
  const present = features.filter(([, has]) => has).map(([name]) => name);
  const fast = avx2 || process.arch !== 'x64';
  return {
    ...base,
    status: fast ? 'ok' : 'warning',
    detail: `${brand || 'unnamed'}; ${present.join(', ') || 'no vector extensions beyond the baseline'}`,
    hint: fast ? '' : 'It works, several times slower than on a processor with AVX2.',
  };
}

function findCudaDriver(): string | null {
  if (process.platform === 'win32') {
    const file = join(process.env.SystemRoot ?? 'C:\\Windows', 'System32', 'nvcuda.dll');
    return existsSync(file) ? file : null;
  }
  for (const dir of LIBRARY_DIRS) {
    if (!existsSync(dir)) continue;
    const name = readdirSync(dir).find((entry) => /^libcuda\.so(\.1)?$/.test(entry));
    if (name) return join(dir, name);
  }
  return null;
}

export function checkGpu(driver = findCudaDriver(), device = existsSync('/dev/nvidiactl')): Check {
  const usable = driver !== null && (device || process.platform === 'win32');
  const detail =
    driver === null
      ? 'no NVIDIA driver; the processor is used'
      : usable
        ? `driver at ${driver}`
        : `driver at ${driver}, but no device`;
  return {
    id: 'gpu',
    title: 'GPU driver',
    status: driver === null || usable ? 'ok' : 'warning',
    detail,
    hint: driver === null || usable ? '' : 'Load the nvidia kernel module, or give this container the device.',
  };
}
