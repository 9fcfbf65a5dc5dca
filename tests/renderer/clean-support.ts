/** A bridge that answers the calls of the Clean screen from pages that a test gives. */
import type { Reply, WindowBridge } from '../../contract/api.js';
import type { CleanRecord } from '../../contract/clean-calls.js';
import type { ErrorShape } from '../../contract/errors.js';
import { setBridge } from '../../renderer/bridge/client.js';

const session = {
  id: 'ses_1',
  version: 1,
  createdAt: 1,
  updatedAt: 1,
  harness: 'pi',
  harnessSessionId: null,
  origin: 'user',
  rolloutId: null,
  title: 'One',
  model: 'm',
  requests: 1,
  toolCalls: 0,
  blocked: 0,
};
const summary = {
  verdict: 'review',
  reasons: [{ code: 'low', count: 1, detail: 'person' }],
  lookedAt: false,
  records: 40,
  touched: 21,
  places: 6,
  values: 2,
  canary: null,
};
const working = { state: 'working', phase: 'find', done: 1, total: 3, ms: 20 };
const ready = { state: 'ready', summary, kinds: [], hiddenKinds: 0, version: 'v' };

/** Ready after `waits` questions; fails with `error` at once. */
export function bridgeWith(
  waits: number,
  pages: Record<number, CleanRecord[]>,
  error?: ErrorShape,
): { asked: string[] } {
  const asked: string[] = [];
  let left = waits;
  const answer = (name: string, input: { offset?: number }): unknown => {
    switch (name) {
      case 'sessions.get':
        return { session, totalSteps: 0, steps: [] };
      case 'clean.open':
        return left > 0 ? working : ready;
      case 'clean.state':
        left -= 1;
        return left > 0 ? working : ready;
      case 'clean.records':
        return { total: 21, version: 'v', records: pages[input.offset ?? 0] ?? [], kinds: [] };
      default:
        return { decisions: [] };
    }
  };
  setBridge({
    call: (name, input) => {
      asked.push(name);
      const reply: Reply<unknown> =
        error && name === 'clean.open' ? { ok: false, error } : { ok: true, output: answer(name, input as object) };
      return Promise.resolve(reply as never);
    },
    onEvent: () => () => undefined,
  } satisfies WindowBridge);
  return { asked };
}
