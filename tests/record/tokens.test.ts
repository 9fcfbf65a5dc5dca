import { statSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { ChatMessage } from '../../main/engine/protocol.js';
import { Recorder } from '../../main/record/recorder.js';
import type { RequestTokens } from '../../main/record/token-store.js';
import { openStore, type Store } from '../../main/store/store.js';
import { ask, callBash, request, result, say, system, temporaryHome, user } from './support.js';

let folder: ReturnType<typeof temporaryHome>;
let store: Store;
let recorder: Recorder;
beforeEach(() => {
  folder = temporaryHome();
  store = openStore(folder.home);
  recorder = new Recorder(store);
});
afterEach(() => {
  store.close();
  folder.remove();
});

const session = { ...user, harnessSessionId: 's' };
const record = (tokens: RequestTokens): string =>
  recorder.record(request([system, ask('x')], say('y'), { session, tokens })).id;
const suffixBytes = (id: string): number =>
  (
    store.db.prepare('SELECT length(promptSuffix) AS n FROM request_tokens WHERE requestId = ?').get(id) as {
      n: number;
    }
  ).n;

it('stores only what follows the earlier prompt and completion, and reads all of it back', () => {
  const a = record({ promptIds: [1, 2, 3], completionIds: [4, 5], logprobs: [-0.5, -0.25] });
  const b = record({ promptIds: [1, 2, 3, 4, 5, 6], completionIds: [7], logprobs: [-1] });
  const c = record({ promptIds: [1, 2, 9], completionIds: [8], logprobs: [-2] });
  expect([a, b, c].map(suffixBytes)).toEqual([12, 4, 4]);
  const reader = new Recorder(store);
  expect(reader.requestTokens(a)).toEqual({ promptIds: [1, 2, 3], completionIds: [4, 5], logprobs: [-0.5, -0.25] });
  expect(reader.requestTokens(b)).toEqual({ promptIds: [1, 2, 3, 4, 5, 6], completionIds: [7], logprobs: [-1] });
  expect(reader.requestTokens(c)).toEqual({ promptIds: [1, 2, 9], completionIds: [8], logprobs: [-2] });
  expect(reader.requestTokens('req_none')).toBeUndefined();
});

it('finds the prefix again after a restart, and past an auxiliary request', () => {
  record({ promptIds: [1, 2, 3, 4], completionIds: [5], logprobs: [0] });
  record({ promptIds: [90, 91], completionIds: [92], logprobs: [0] });
  recorder = new Recorder(store);
  expect(suffixBytes(record({ promptIds: [1, 2, 3, 4, 5, 6], completionIds: [7], logprobs: [0] }))).toBe(4);
});

it('returns any sequence of requests exactly', () => {
  const ids = fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 12 });
  const tokens = fc.record({
    promptIds: fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 1, maxLength: 12 }),
    completionIds: ids,
  });
  fc.assert(
    fc.property(fc.array(tokens, { minLength: 1, maxLength: 8 }), fc.string({ minLength: 1 }), (list, name) => {
      const hint = { ...session, harnessSessionId: name };
      const stored = list.map((one) => {
        const full = { ...one, logprobs: one.completionIds.map((id) => -id / 4) };
        return { id: recorder.record(request([ask('x')], say('y'), { session: hint, tokens: full })).id, full };
      });
      const reader = new Recorder(store);
      for (const { id, full } of stored) expect(reader.requestTokens(id)).toEqual(full);
    }),
    { numRuns: 60 },
  );
});

it('keeps a session of 1000 requests small', () => {
  const messages: ChatMessage[] = [system, ask('Count the files in each folder.')];
  const promptIds = Array.from({ length: 700 }, (_, i) => i);
  let asSent = 0;
  const started = performance.now();
  for (let i = 0; i < 1000; i++) {
    const call = callBash(`call_${i}`, `ls folder-${i} | wc -l`);
    const completionIds = Array.from({ length: 24 }, (_, k) => 10_000 + i * 24 + k);
    recorder.record(
      request([...messages], call, {
        session,
        tokens: { promptIds: [...promptIds], completionIds, logprobs: completionIds.map(() => -0.1) },
      }),
    );
    asSent += JSON.stringify(messages).length + promptIds.length * 4;
    messages.push(call, result(`call_${i}`, `${i}`));
    promptIds.push(...completionIds, ...Array.from({ length: 20 }, (_, k) => 50_000 + k));
  }
  const seconds = (performance.now() - started) / 1000;
  store.db.pragma('wal_checkpoint(TRUNCATE)');
  const bytes = statSync(join(folder.home, 'tackroom.db')).size;
  console.log(
    `1000 requests: ${(bytes / 1e6).toFixed(1)} MB stored of ${(asSent / 1e6).toFixed(0)} MB sent, ${seconds.toFixed(1)} s`,
  );
  expect(bytes).toBeLessThan(8e6);
  expect(bytes).toBeLessThan(asSent / 20);
  const reading = performance.now();
  expect(recorder.sessionTranscript(store.session.list()[0]!.id)!.steps).toHaveLength(2 + 1000 + 999);
  console.log(`transcript: ${(performance.now() - reading).toFixed(0)} ms`);
  const last = store.request.list({ limit: 1 })[0]!;
  expect(recorder.requestTokens(last.id)!.promptIds).toEqual(promptIds.slice(0, promptIds.length - 44));
  expect(recorder.promptMessages(last.promptNode)).toHaveLength(2000);
}, 300_000);
