import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Candidate, Origin } from '../../contract/records.js';
import { Recorder } from '../../main/record/recorder.js';
import { DEFAULT_SETTINGS } from '../../main/record/settings.js';
import { bytesInUse, sweep } from '../../main/record/sweep.js';
import { openStore, type Store } from '../../main/store/store.js';
import { ask, request, say, system, temporaryHome, user } from './support.js';

const DAY_MS = 86_400_000;
let folder: ReturnType<typeof temporaryHome>;
let store: Store;
let recorder: Recorder;
let now: number;
let turns: number;
beforeEach(() => {
  folder = temporaryHome();
  store = openStore(folder.home);
  recorder = new Recorder(store);
  now = Date.UTC(2026, 10, 30);
  turns = 0;
});
afterEach(() => {
  store.close();
  folder.remove();
});

/** A session whose last request is `days` old. */
function session(days: number, origin: Origin = 'user', text = `${origin} of ${days} days`): string {
  const createdAt = now - days * DAY_MS;
  const hint = { ...user, origin, harnessSessionId: `${origin}-${days}` };
  return recorder.record(request([system, ask(text)], say('Done.'), { session: hint, createdAt })).sessionId;
}
const run = (limits: { maxAgeDays?: number; maxBytes?: number }) =>
  sweep(store, { ...DEFAULT_SETTINGS, ...limits }, async () => void turns++, now);
const left = (): number[] => store.session.list().map(({ updatedAt }) => (now - updatedAt) / DAY_MS);

function makeTask(sessionId: string): void {
  const candidate: Candidate = {
    id: 'cand_1',
    version: 1,
    createdAt: now,
    sessionId,
    kind: 'repair',
    requestIndex: 0,
    check: 'npm test',
    cwd: '.',
    startSha: '',
    oracleSha: '',
    files: [],
    dropped: null,
  };
  store.candidate.put(candidate);
  store.task.put({
    id: 'task_1',
    version: 1,
    createdAt: now,
    kind: 'repair',
    split: 'train',
    source: candidate.id,
    candidateId: candidate.id,
    dir: '',
    contentHash: '',
    question: '',
    status: 'kept',
    reason: null,
  });
}

it('deletes what is older than the limit, for good, and keeps what tasks came from', async () => {
  for (const days of [1, 9, 11, 20]) session(days);
  session(40, 'import');
  session(50, 'rollout');
  session(60, 'demo');
  makeTask(session(30, 'user', 'The zebra question'));
  store.candidate.put({ ...store.candidate.get('cand_1')!, id: 'cand_2', sessionId: session(31, 'user', 'quokka') });
  expect(await run({ maxAgeDays: 10 })).toMatchObject({ at: now, removedByAge: 4, removedBySize: 0, kept: 1 });
  expect(left().sort((a, b) => a - b)).toEqual([1, 9, 30, 50, 60]);
  expect(store.candidate.list().map(({ id }) => id)).toEqual(['cand_1']);
  const bytes = ['tackroom.db', 'tackroom.db-wal']
    .map((file) => readFileSync(join(folder.home, file), 'latin1'))
    .join('');
  expect(bytes).toContain('zebra');
  expect(bytes).not.toContain('quokka');
  expect(turns).toBeGreaterThan(3);
});

it('leaves what was used again, or became the source of a task, while it swept', async () => {
  session(50);
  const [used, source] = [session(40), session(30)];
  const again = { ...user, harnessSessionId: 'user-40' };
  const pause = async (): Promise<void> => {
    if (turns++ > 0) return;
    recorder.record(request([system, ask('Again')], say('Done.'), { session: again, createdAt: now }));
    makeTask(source);
  };
  const report = await sweep(store, { ...DEFAULT_SETTINGS, maxAgeDays: 10 }, pause, now);
  expect(report).toMatchObject({ removedByAge: 1, kept: 1 });
  expect(store.session.list().map(({ id, requests }) => [id, requests])).toEqual(
    expect.arrayContaining([
      [used, 2],
      [source, 1],
    ]),
  );
});

it('makes room by deleting the oldest, and leaves those in use alone', async () => {
  for (let days = 5; days >= 0; days--) session(days, 'user', `${days} ${'lorem ipsum '.repeat(20_000)}`);
  const limit = Math.round(bytesInUse(store) * 0.6);
  const report = await run({ maxBytes: limit });
  expect(report.removedBySize).toBeGreaterThan(0);
  expect(report.bytesAfter).toBeLessThanOrEqual(limit);
  expect(report.bytesBefore).toBeGreaterThan(limit);
  expect(left().sort((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5].slice(0, 6 - report.removedBySize));
  await run({ maxBytes: 1024 });
  expect(left()).toEqual([0]);
});

it('a sweep that is ended in the middle of a long session goes on with the next', async () => {
  const conversation = [system, ask('Begin')];
  for (let i = 0; i < 450; i++) {
    recorder.record(request([...conversation], say(`Step ${i}`), { createdAt: now - 20 * DAY_MS + i }));
    conversation.push(say(`Step ${i}`), ask(`Next ${i}`));
  }
  let first = true;
  const stopped = sweep(
    store,
    { ...DEFAULT_SETTINGS, maxAgeDays: 10 },
    async () => {
      if (first) first = false;
      else throw new Error('stopped');
    },
    now,
  );
  await expect(stopped).rejects.toThrow('stopped');
  const [half] = store.session.list();
  expect(half?.requests).toBe(50);
  expect(store.request.count()).toBe(50);
  expect(recorder.sessionTranscript(half!.id)?.steps.length).toBeGreaterThan(50);
  expect(await run({ maxAgeDays: 10 })).toMatchObject({ removedByAge: 1 });
  for (const table of ['session', 'request', 'message', 'message_node', 'tools', 'message_text'])
    expect([table, (store.db.prepare(`SELECT count(*) AS n FROM ${table}`).get() as { n: number }).n]).toEqual([
      table,
      0,
    ]);
});
