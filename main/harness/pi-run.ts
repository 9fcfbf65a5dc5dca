/** One prompt to a running pi, until it has settled or may not go on. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { PiRecord, PiRpc } from './pi-rpc.js';

export interface PiRun {
  /** pi came to its own end; false: deadline, cancel or a crash. */
  settled: boolean;
  /** Why there is no proper end: `deadline`, `cancelled`, how pi ended, or what the model's server answered. */
  error?: string;
  /** Tool calls pi began to run. */
  toolCalls: number;
  seconds: number;
}

const ABORT_GRACE_MS = 1000;

export async function runPrompt(
  rpc: PiRpc,
  gone: Promise<string>,
  prompt: string,
  options: { deadlineMs: number; signal?: AbortSignal },
): Promise<PiRun> {
  const started = performance.now();
  let toolCalls = 0;
  let modelError: string | undefined;
  let settle: () => void = () => undefined;
  const settled = new Promise<null>((resolve) => {
    settle = () => resolve(null);
  });
  const off = rpc.on((event: PiRecord) => {
    if (event.type === 'tool_execution_start') toolCalls++;
    if (event.type === 'message_end' && event.message?.role === 'assistant')
      modelError =
        event.message.stopReason === 'error' ? (event.message.errorMessage ?? 'the model failed') : undefined;
    if (event.type === 'agent_settled') settle();
  });
  const stop = new AbortController();
  const signals = options.signal ? [stop.signal, options.signal] : [stop.signal];
  const stopped = sleep(options.deadlineMs, 'deadline', { signal: AbortSignal.any(signals) }).catch(() => 'cancelled');
  const finish = (done: boolean, error?: string): PiRun => ({
    settled: done,
    ...(error === undefined ? {} : { error }),
    toolCalls,
    seconds: (performance.now() - started) / 1000,
  });
  try {
    const accepted = rpc
      .call('prompt', { message: prompt })
      .then((answer) =>
        answer.data?.disposition === 'started' ? settled : `pi took the prompt as ${String(answer.data?.disposition)}`,
      );
    const end = await Promise.race([accepted, gone, stopped]);
    if (end === null) return finish(true, modelError);
    if (end === 'deadline' || end === 'cancelled') await abort(rpc);
    return finish(false, end);
  } catch (error) {
    return finish(false, error instanceof Error ? error.message : String(error));
  } finally {
    off();
    stop.abort();
  }
}

/** Lets pi end its request to the model in an orderly way, where it still can. */
async function abort(rpc: PiRpc): Promise<void> {
  await rpc.call('abort', {}, ABORT_GRACE_MS).catch(() => undefined);
}
