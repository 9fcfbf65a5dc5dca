/** The window's calls about cleaned copies, with the real thread (dist/) over a real store. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CallInput, CallName, CallOutput, WindowServices } from '../../contract/api.js';
import type { CleanState } from '../../contract/clean-calls.js';
import { fromErrorShape } from '../../contract/errors.js';
import { Recorder } from '../../main/record/recorder.js';
import { policyOf, registryOf } from '../../main/sanitize/review/policy.js';
import { openStore, type Store } from '../../main/store/store.js';
import { exportSession } from '../../main/trajectory/export-session.js';
import { Vault } from '../../main/vault/vault.js';
import { cleanServices } from '../../main/window/clean-services.js';
import { dispatchCall } from '../../main/window/dispatch.js';
import { EventBus } from '../../main/window/event-bus.js';
import { ACCOUNT, PERSON, PROJECT, recordPrivate, TOKEN } from '../sanitize/review/support.js';

let home: string;
let store: Store;
let bus: EventBus;
let services: WindowServices;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'tackroom-clean-'));
  store = openStore(home);
  bus = new EventBus();
  services = cleanServices({ store, bus, vault: new Vault(home) }) as WindowServices;
});
afterEach(async () => {
  await call('clean.stopChecks', {});
  store.close();
  rmSync(home, { recursive: true, force: true });
});

async function call<N extends CallName>(name: N, input: CallInput<N>): Promise<CallOutput<N>> {
  const reply = await dispatchCall(services, name, input);
  if (!reply.ok) throw fromErrorShape(reply.error);
  return reply.output as CallOutput<N>;
}
type Ready = Extract<CleanState, { state: 'ready' }>;

async function look(id: string): Promise<Ready> {
  await call('clean.open', { id });
  await expect.poll(async () => (await call('clean.state', { id })).state).not.toBe('working');
  const state = await call('clean.state', { id });
  if (state.state !== 'ready') throw new Error(JSON.stringify(state));
  return state;
}
const exported = (id: string): string =>
  JSON.stringify(
    exportSession(store, id, {
      format: 'atif',
      registry: registryOf(policyOf(store, new Vault(home), id)),
    }).value(),
  );

describe('cleaned copies in the window', () => {
  it('are looked at in a thread, kept by state, and shown in pages of both sides', async () => {
    const id = recordPrivate(store);
    const { summary, kinds, version } = await look(id);
    expect(summary.verdict).toBe('review');
    expect(JSON.stringify({ summary, kinds })).not.toMatch(new RegExp([TOKEN, PERSON, ACCOUNT].join('|')));
    const page = await call('clean.records', { id });
    expect(page.version).toBe(version);
    expect(page.records.every(({ places }) => places.length > 0)).toBe(true);
    const all = await call('clean.records', { id, only: 'all' });
    expect(all.total).toBe(summary.records);
    const token = kinds.find(({ family }) => family === 'github-pat')!;
    const [held] = (await call('clean.records', { id, kind: token.kind })).records;
    const whole = await call('clean.record', { id, record: held!.record });
    expect(JSON.stringify(whole.record.fields.map(({ original }) => original))).toContain(TOKEN);
    expect(JSON.stringify(whole.record.fields.map(({ clean }) => clean))).not.toContain(TOKEN);
    // The same state is not looked at again.
    expect(await call('clean.open', { id })).toMatchObject({ state: 'ready', version });
  });

  it('follow what is decided, and undoing it; the export too', async () => {
    const id = recordPrivate(store);
    const first = await look(id);
    const person = first.kinds.find(({ family }) => family === 'person')!;
    const { decision } = await call('clean.decide', { id, do: 'keep', kind: person.kind });
    expect((await look(id)).summary.reasons.map(({ code }) => code)).toEqual(['kept']);
    expect(exported(id)).toContain(PERSON);
    const { decisions } = await call('clean.decisions', { id });
    expect(decisions).toMatchObject([{ id: decision, do: 'keep', always: false, name: 'person', value: PERSON }]);
    await call('clean.undo', { id: decision });
    expect(exported(id)).not.toContain(PERSON);
    await call('clean.decide', { id, do: 'redact', about: { text: PROJECT } });
    expect((await look(id)).kinds.some(({ placeholder }) => placeholder === 'REDACTED_MARKED_1')).toBe(true);
    expect(exported(id)).not.toContain(PROJECT);
    await call('clean.decide', { id, do: 'always', as: 'redact', about: { text: PROJECT }, name: 'project' });
    const after = (await call('clean.decisions', { id })).decisions;
    expect(after.map((one) => [one.do, one.always, one.name])).toEqual([['redact', true, 'project']]);
    const other = recordPrivate(store, { title: 'Later' });
    expect(exported(other)).toContain('REDACTED_PROJECT_1');
    const { version } = await look(id);
    store.session.update(id, (session) => ({ ...session, updatedAt: session.updatedAt + 1 }));
    // What came since was not looked at.
    await expect(call('clean.decide', { id, do: 'looked', version })).rejects.toMatchObject({ code: 'REFUSED' });
    await call('clean.decide', { id, do: 'looked', version: (await look(id)).version });
    expect((await look(id)).summary).toMatchObject({ verdict: 'pass', lookedAt: true });
    new Recorder(store).deleteSession(id);
    await expect(call('clean.records', { id })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('a kind that is replaced in any case, and rules for all sessions', async () => {
    const id = recordPrivate(store);
    await call('clean.decide', { id, do: 'redactKind', family: 'person' });
    expect((await look(id)).summary.verdict).toBe('pass');
    await call('clean.addRule', { do: 'deny', name: 'contract', value: PROJECT });
    const blocked = await look(id);
    expect(blocked.summary.verdict).toBe('blocked');
    const shown = blocked.kinds.find(({ family }) => family === 'deny contract')!;
    await expect(call('clean.decide', { id, do: 'keep', kind: shown.kind })).rejects.toMatchObject({ code: 'REFUSED' });
    expect(() => exported(id)).toThrow(expect.objectContaining({ code: 'REFUSED' }));
    await expect(call('clean.addRule', { do: 'pattern', name: 'x', value: '(?=secret)abc' })).rejects.toMatchObject({
      code: 'BAD_ARGUMENT',
    });
    expect(await call('clean.forget', {})).toEqual({ forgotten: 1 });
    expect((await look(id)).summary.verdict).toBe('pass');
  });

  it('verdicts come in the background, for the list and its filter, and go with the session', async () => {
    const heard: string[] = [];
    bus.subscribe(({ event, data }) => event === 'record.changed' && heard.push(data.id));
    const ids = [recordPrivate(store), recordPrivate(store, { plain: true, title: 'Plain' })];
    expect((await call('clean.verdicts', { ids })).verdicts.map(({ verdict }) => verdict)).toEqual([null, null]);
    await expect.poll(() => [...new Set(heard)].sort()).toEqual([...ids].sort());
    expect((await call('clean.verdicts', { ids })).verdicts).toEqual([
      { sessionId: ids[0], verdict: 'review', stale: false },
      { sessionId: ids[1], verdict: 'pass', stale: false },
    ]);
    const list = await call('clean.list', {});
    expect(list.counts).toEqual({ pass: 1, review: 1, blocked: 0, unknown: 0 });
    expect(list.sessions.map(({ session }) => session.id)).toEqual(ids);
    expect((await call('clean.list', { verdict: 'pass' })).sessions.map(({ session }) => session.id)).toEqual([ids[1]]);
    store.session.update(ids[1]!, (session) => ({ ...session, updatedAt: Date.now() }));
    expect((await call('clean.verdicts', { ids })).verdicts[1]).toMatchObject({ verdict: 'pass', stale: true });
    new Recorder(store).deleteSession(ids[1]!);
    expect(store.db.prepare('SELECT count(*) FROM clean_verdict').pluck().get()).toBe(1);
  });

  it('a long session leaves the server free, tells how far it is, and can be cancelled', async () => {
    const line = `curl -H "Authorization: token ${TOKEN}" https://api.example.com/${'path/'.repeat(40)} `;
    const id = recordPrivate(store, { title: 'Long', more: line.repeat(40_000) });
    let longest = 0;
    let last = performance.now();
    const beat = setInterval(() => {
      longest = Math.max(longest, performance.now() - last);
      last = performance.now();
    }, 20);
    const phases = new Set<string>();
    expect((await call('clean.open', { id })).state).toBe('working');
    last = performance.now();
    await expect
      .poll(
        async () => {
          const state = await call('clean.state', { id });
          if (state.state === 'working') phases.add(state.phase);
          return phases.size;
        },
        { interval: 30 },
      )
      .toBeGreaterThan(1);
    await call('clean.cancel', { id });
    clearInterval(beat);
    expect(longest).toBeLessThan(400);
    expect(await call('clean.state', { id })).toMatchObject({ state: 'failed', error: { code: 'CANCELLED' } });
    await expect(call('clean.records', { id })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('a session that is not there is told so', async () => {
    await expect(call('clean.open', { id: 'ses_none' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(await call('clean.state', { id: 'ses_none' })).toEqual({ state: 'none' });
  });
});
