/**
 * The settling thread: guard and record, with a connection of its own to the store. Requests that finish while the disk is busy, or soon
 * after another commit, are committed together, so that 48 of them cost a few flushes and not 48.
 */
import { getPriority, setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import type { Origin } from '../../../contract/records.js';
import { LiveGuard } from '../../guard/live-guard.js';
import { Recorder } from '../../record/recorder.js';
import { openStore } from '../../store/store.js';
import { HttpError } from '../http-error.js';
import { judgeOnEngine } from './judge-on-engine.js';
import type { FromThread, ToThread } from './messages.js';
import { DirectSettler, type Entry } from './settler.js';
import { UpkeepWorker } from './upkeep-worker.js';

/** Where threads have priorities of their own, the streams go first; enough is left beside a training run. */
const NICE = 5;
try {
  if (process.platform === 'linux' && getPriority() < NICE) setPriority(NICE);
} catch {
  // Not allowed here: it serves all the same.
}

const port = parentPort!;
const { home, engine } = workerData as { home: string; engine: string };
const store = openStore(home);
const judge = judgeOnEngine(engine);
const guard = new LiveGuard(store, judge.ask);
const upkeep = new UpkeepWorker(home);
const settler = new DirectSettler(new Recorder(store), guard, (message) => upkeep.tell(message));

const say = (message: FromThread): void => port.postMessage(message);
const fail = (call: number, cause: unknown): void => {
  const { message, code } = cause as { message?: string; code?: unknown };
  const status = cause instanceof HttpError ? cause.status : null;
  say({
    kind: 'failed',
    call,
    message: message ?? String(cause),
    code: typeof code === 'string' ? code : null,
    status,
  });
};
const answer = (call: number, result: Promise<Extract<FromThread, { kind: 'done' }>['result']>): void =>
  void result.then(
    (done) => say({ kind: 'done', call, result: done }),
    (cause: unknown) => fail(call, cause),
  );

/**
 * Commits of what people did are at least this far apart, milliseconds: each costs a flush and as much processor time as several
 * requests, which the streams that are running would feel. A request that ends alone waits for nobody, and rollouts, which flush nothing
 * and ask one turn after the other, never do.
 */
const COMMIT_EVERY_MS = 20;

const waiting: { call: number; entry: Entry }[] = [];
let committedAt = Number.NEGATIVE_INFINITY;

function flushSoon(origin: Origin): void {
  const left = committedAt + COMMIT_EVERY_MS - performance.now();
  if (left > 0 && origin === 'user') setTimeout(flush, left);
  else setImmediate(flush);
}

/** Requests of one rollout go into different commits: the first says which session it is. */
function nextBatch(): typeof waiting {
  const keys = new Set<string>();
  const end = waiting.findIndex(({ entry }) => {
    const key = entry.session.workerKey;
    if (key !== null && keys.has(key)) return true;
    if (key !== null) keys.add(key);
    return false;
  });
  return waiting.splice(0, end < 0 ? waiting.length : end);
}

function flush(): void {
  while (waiting.length > 0) {
    committedAt = performance.now();
    const batch = nextBatch();
    settler.recordAll(batch.map(({ entry }) => entry)).forEach((result, at) => {
      const { call } = batch[at]!;
      if (result instanceof Error) fail(call, result);
      else say({ kind: 'done', call, result });
    });
  }
}

port.on('message', (message: ToThread) => {
  switch (message.kind) {
    case 'open':
      answer(
        message.call,
        settler.open(
          message.id,
          message.api,
          Buffer.from(message.body.buffer, message.body.byteOffset, message.body.byteLength),
          message.loopKey,
          message.origin,
        ),
      );
      break;
    case 'check':
      answer(message.call, settler.check(message.id, message.input));
      break;
    case 'record':
      // Everything that has arrived by now goes into the same commit.
      if (waiting.push(message) === 1 || message.entry.session.origin !== 'user')
        flushSoon(message.entry.session.origin);
      break;
    case 'release':
      flush();
      settler.releaseWorker(message.workerKey);
      break;
    case 'close':
      flush();
      guard.close();
      judge.close();
      void upkeep.close().finally(() => {
        store.close();
        port.close();
      });
  }
});
say({ kind: 'ready' });
