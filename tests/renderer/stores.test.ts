import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { useAdapters } from '../../renderer/stores/adapters.js';
import { useHome } from '../../renderer/stores/home.js';
import { useNotices } from '../../renderer/stores/notices.js';
import { useRun } from '../../renderer/stores/run.js';
import { useRunView } from '../../renderer/stores/run-view.js';
import { useSession } from '../../renderer/stores/session.js';
import { sessionAt, useSessionList } from '../../renderer/stores/session-list.js';
import { RUN_ID, seedRun, seedStep } from '../e2e/seed-run.js';
import { MARKED_SESSION, putManySessions, recordSession } from '../e2e/seed-sessions.js';
import { type InProcessApp, openInProcessApp } from './support.js';

let app: InProcessApp;
beforeEach(() => {
  app = openInProcessApp();
  useNotices.setState({ notices: [] });
  useHome.setState(useHome.getInitialState(), true);
  useRun.setState(useRun.getInitialState(), true);
  useSession.setState(useSession.getInitialState(), true);
  useSessionList.setState(useSessionList.getInitialState(), true);
  useAdapters.setState(useAdapters.getInitialState(), true);
});
afterEach(() => app.close());

const publishStep = (n: number): void =>
  app.bus.publish('run.step', { runId: RUN_ID, step: n, at: n, metrics: seedStep(n, n).metrics });

describe('home', () => {
  it('says why a process is down instead of failing', async () => {
    await useHome.getState().load();
    expect(useHome.getState().state).toMatchObject({
      engine: { state: 'down', reason: 'The service is not running.' },
      gateway: { state: 'down' },
      job: null,
    });
  });

  it('follows the running job', async () => {
    seedRun(app.store, 6, 10, Date.now());
    await useHome.getState().load();
    expect(useHome.getState().state).toMatchObject({ job: { step: 6 }, counts: { tasks: { kept: 425, dropped: 5 } } });
    expect(useHome.getState().state?.jobRewards).toHaveLength(6);
    publishStep(7);
    app.bus.publish('run.status', { run: { ...app.store.run.get(RUN_ID)!, step: 7, waitingFor: 'the update' } });
    expect(useHome.getState().state).toMatchObject({ job: { step: 7, waitingFor: 'the update' } });
    expect(useHome.getState().state?.jobRewards).toHaveLength(7);
  });
});

describe('session list', () => {
  it('reads only the pages that are looked at', async () => {
    putManySessions(app.store, 450, Date.now());
    useSessionList.getState().show(0, 20);
    await expect.poll(() => useSessionList.getState().total).toBe(450);
    expect(Object.keys(useSessionList.getState().pages)).toEqual(['0']);
    useSessionList.getState().show(395, 415);
    await expect.poll(() => Object.keys(useSessionList.getState().pages)).toEqual(['0', '1', '2']);
    expect(sessionAt(useSessionList.getState().pages, 449)).toBeDefined();
    expect(sessionAt(useSessionList.getState().pages, 450)).toBeUndefined();
  });

  it('drops the answer to a filter that is no longer set', async () => {
    putManySessions(app.store, 20, Date.now());
    const { setFilter } = useSessionList.getState();
    let release = (): void => undefined;
    app.beforeReply = () => new Promise((resolve) => (release = resolve));
    setFilter({ harness: 'pi' });
    await expect.poll(() => release.length === 0 && release.toString()).not.toContain('undefined');
    const late = release;
    app.beforeReply = () => Promise.resolve();
    setFilter({ harness: 'hermes' });
    await expect.poll(() => useSessionList.getState().total).not.toBeNull();
    late();
    await new Promise((resolve) => setTimeout(resolve, 20));
    const { pages } = useSessionList.getState();
    expect(new Set(pages[0]?.map(({ harness }) => harness))).toEqual(new Set(['hermes']));
    setFilter({ harness: undefined });
  });
});

describe('session', () => {
  it('joins each result with its call and keeps the verdict', async () => {
    const id = recordSession(app.recorder, { ...MARKED_SESSION, endedAt: Date.now() });
    await useSession.getState().open(id);
    const { steps, session } = useSession.getState();
    expect(useSession.getState().error).toBeNull();
    expect(session?.blocked).toBe(1);
    expect(steps.map(({ kind }) => kind)).toEqual(['system', 'user', 'agent', 'agent', 'agent', 'agent']);
    const calls = steps.flatMap((step) => (step.kind === 'agent' ? step.calls : []));
    expect(calls.map(({ verdict, rule }) => [verdict, rule])).toEqual([
      ['allow', null],
      ['block', 'reward-file-write'],
      ['allow', null],
    ]);
    expect(calls[0]?.result).toContain('day,item,amount');
  });

  it('says what is wrong with an unknown one', async () => {
    await useSession.getState().open('nothing');
    expect(useSession.getState().error).toMatchObject({ code: 'NOT_FOUND' });
  });
});

describe('run', () => {
  it('keeps a step that is published while the run is being read', async () => {
    seedRun(app.store, 6, 10, Date.now());
    app.beforeReply = async () => publishStep(7);
    await useRun.getState().open(RUN_ID);
    expect(useRun.getState().detail?.steps.at(-1)?.step).toBe(7);
    expect(useRun.getState().detail?.run.step).toBe(7);
  });

  it('does not stop a run that is not running, and says so', async () => {
    seedRun(app.store, 6, 10, Date.now());
    app.store.run.update(RUN_ID, (run) => ({ ...run, status: 'done' }));
    await useRun.getState().open(RUN_ID);
    await useRun.getState().stop();
    expect(useNotices.getState().notices).toMatchObject([
      { tone: 'bad', code: 'REFUSED', text: 'The run is done, there is nothing to stop.' },
    ]);
    expect(useRun.getState().stopping).toBe(false);
  });
});

describe('run view', () => {
  it('stops following when zoomed and shows all when followed again', () => {
    const { zoomTo, follow, setSmoothing } = useRunView.getState();
    zoomTo({ min: 2, max: 5 });
    expect(useRunView.getState()).toMatchObject({ zoom: { min: 2, max: 5 }, following: false });
    follow();
    expect(useRunView.getState()).toMatchObject({ zoom: null, following: true });
    setSmoothing(3);
    expect(useRunView.getState().smoothing).toBe(0.95);
  });
});

describe('adapters', () => {
  it('swaps, goes back, and tells what was refused', async () => {
    seedRun(app.store, 20, 40, Date.now());
    const { load, swap, rollback } = useAdapters.getState();
    await load();
    expect(await swap('pi', 'adapter_10')).toBe(true);
    expect(await swap('pi', 'adapter_20')).toBe(true);
    expect(useAdapters.getState().adapters?.find(({ adapter }) => adapter.id === 'adapter_20')).toMatchObject({
      servedTo: ['pi'],
      step: 20,
      runName: 'data-questions 1',
    });
    expect(await rollback('pi')).toBe(true);
    expect(useAdapters.getState().deployments).toMatchObject([{ harness: 'pi', adapterName: 'data-questions-10' }]);
    expect(await swap('pi', 'missing')).toBe(false);
    expect(useNotices.getState().notices.at(-1)).toMatchObject({ tone: 'bad', code: 'NOT_FOUND' });
    expect(useAdapters.getState().busy).toBe(false);
  });
});
