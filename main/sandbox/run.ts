/** Runs one command in a sandbox of its own and collects what it says. */
import type { Readable } from 'node:stream';
import { TackroomError } from '../../contract/errors.js';
import type { SandboxDriver, SandboxExit, SandboxSpec } from './sandbox.js';

export interface RunOptions {
  /** Written to standard input, which is then closed. */
  input?: string | Uint8Array;
  /** Kept of each stream; the rest is read and dropped. Default 1 MiB. */
  maxOutputBytes?: number;
  signal?: AbortSignal;
}

export interface RunOutput extends SandboxExit {
  stdout: string;
  stderr: string;
  /** True: at least one stream was longer than `maxOutputBytes`. */
  truncated: boolean;
  seconds: number;
}

const DEFAULT_OUTPUT_BYTES = 1024 * 1024;

async function collect(stream: Readable, maxBytes: number): Promise<{ text: string; truncated: boolean }> {
  const chunks: Buffer[] = [];
  let kept = 0;
  let truncated = false;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    const part = chunk.subarray(0, Math.max(0, maxBytes - kept));
    truncated ||= part.length < chunk.length;
    kept += part.length;
    if (part.length > 0) chunks.push(part);
  }
  return { text: Buffer.concat(chunks).toString('utf8'), truncated };
}

/**
 * Runs `spec` to its end. A failing command is a result, not an error.
 * Errors: NO_SANDBOX when the sandbox cannot be made, CANCELLED when `signal` ends it.
 */
export async function runInSandbox(
  driver: SandboxDriver,
  spec: SandboxSpec,
  options: RunOptions = {},
): Promise<RunOutput> {
  const cancelled = (): TackroomError => new TackroomError('CANCELLED', `The sandbox ${spec.name} was cancelled.`);
  if (options.signal?.aborted) throw cancelled();
  const started = performance.now();
  const sandbox = await driver.spawn(spec);
  const onAbort = (): void => sandbox.kill();
  options.signal?.addEventListener('abort', onAbort, { once: true });
  if (options.signal?.aborted) onAbort();
  try {
    sandbox.stdin.end(options.input ?? '');
    const maxBytes = options.maxOutputBytes ?? DEFAULT_OUTPUT_BYTES;
    const [stdout, stderr, exit] = await Promise.all([
      collect(sandbox.stdout, maxBytes),
      collect(sandbox.stderr, maxBytes),
      sandbox.exit,
    ]);
    if (options.signal?.aborted) throw cancelled();
    if (exit.code === 125 && stderr.text.startsWith('sandbox-launch: '))
      throw new TackroomError(
        'NO_SANDBOX',
        `The sandbox ${spec.name} could not be made: ${stderr.text.trim().slice(16)}.`,
      );
    const truncated = stdout.truncated || stderr.truncated;
    return {
      ...exit,
      stdout: stdout.text,
      stderr: stderr.text,
      truncated,
      seconds: (performance.now() - started) / 1000,
    };
  } finally {
    options.signal?.removeEventListener('abort', onAbort);
  }
}
