/** Runs one command of a task in a fresh sandbox and waits for its end. */
import type { Mount, SandboxDriver, SandboxExit } from '../sandbox/sandbox.js';

export interface TaskCommand {
  name: string;
  argv: string[];
  env?: Record<string, string>;
  cwd: string;
  mounts: Mount[];
  memoryBytes: number;
  timeoutMs: number;
}

export interface TaskCommandResult extends SandboxExit {
  cancelled: boolean;
  /** End of what the command printed, both streams, at most 16 KiB. */
  output: string;
}

const MIB = 1024 * 1024;
const LIMITS = { processes: 128, fileBytes: 64 * MIB };
const OUTPUT_BYTES = 16 * 1024;
const ENVIRONMENT = {
  HOME: '/tmp',
  LANG: 'C.UTF-8',
  PYTHONDONTWRITEBYTECODE: '1',
};

/** Rejects only when the sandbox cannot be started. */
export async function runTaskCommand(
  driver: SandboxDriver,
  command: TaskCommand,
  signal?: AbortSignal,
): Promise<TaskCommandResult> {
  if (signal?.aborted) return { code: null, signal: null, limit: null, cancelled: true, output: '' };
  const child = await driver.spawn({
    name: command.name,
    argv: command.argv,
    env: { ...ENVIRONMENT, ...command.env },
    cwd: command.cwd,
    mounts: command.mounts,
    limits: {
      ...LIMITS,
      memoryBytes: command.memoryBytes,
      cpuSeconds: Math.ceil(command.timeoutMs / 1000),
      wallMs: command.timeoutMs,
    },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8');
    stream.on('data', (text: string) => {
      output = (output + text).slice(-OUTPUT_BYTES);
    });
    stream.on('error', () => undefined);
  }
  child.stdin.on('error', () => undefined);
  child.stdin.end();
  const stop = (): void => child.kill();
  signal?.addEventListener('abort', stop, { once: true });
  if (signal?.aborted) stop();
  try {
    const exit = await child.exit;
    return { ...exit, cancelled: signal?.aborted ?? false, output };
  } finally {
    signal?.removeEventListener('abort', stop);
  }
}
