/** The window's calls, answered from the store and the running processes. */
import type { WindowServices } from '../../contract/api.js';
import { TackroomError } from '../../contract/errors.js';
import type { Deployment, Harness } from '../../contract/records.js';
import type { Transcript } from '../record/transcript.js';
import type { Store } from '../store/store.js';
import { listAdapters } from './adapter-views.js';
import { cleanServices } from './clean-services.js';
import { type ConnectSources, connectServices } from './connect-services.js';
import type { EventBus } from './event-bus.js';
import { guardServices } from './guard-services.js';
import { currentDeployments, lastRewards, loopCounts, recentOwn, runningJob } from './home-state.js';
import { recordingServices } from './recording-services.js';
import { listRollouts, listRuns, mustFindRun, runDetail } from './run-views.js';
import { readEngine, readGateway, type StatusSource } from './service-views.js';
import { listSessions, noSession } from './session-list.js';
import { transcriptView } from './transcript-view.js';
import { workspaceServices } from './workspace-services.js';

const RECENT_SESSIONS = 6;

export interface WindowSources {
  store: Store;
  gateway: StatusSource;
  engine: StatusSource;
  bus: EventBus;
  connect: Omit<ConnectSources, 'store'>;
  /** A whole session; undefined when it is not in the store. */
  transcript(sessionId: string): Transcript | undefined;
  /** Puts an adapter (null: the base model) behind a harness; returns once requests are routed to it. */
  swap(harness: Harness, adapterId: string | null): Promise<Deployment>;
  /** Goes back to what the harness was served before; refuses with a reason when there is nothing before. */
  rollback(harness: Harness): Promise<Deployment>;
  /** Asks a run to stop after its current step; what is done so far is kept. */
  stopRun(runId: string): Promise<void>;
}

export function createWindowServices(sources: WindowSources): WindowServices {
  const { store, bus } = sources;
  const deployed = (deployment: Deployment): { deployment: Deployment } => {
    bus.publish('record.changed', { kind: 'deployment', id: deployment.id });
    return { deployment };
  };
  return {
    ...connectServices({ store, ...sources.connect }),
    async 'home.state'() {
      const [engine, gateway] = await Promise.all([readEngine(sources.engine), readGateway(sources.gateway)]);
      const job = runningJob(store);
      return {
        counts: loopCounts(store),
        job,
        jobRewards: job ? lastRewards(store, job.id) : [],
        engine,
        gateway,
        deployments: currentDeployments(store),
        recent: recentOwn(store, RECENT_SESSIONS),
      };
    },
    'sessions.list': (filter) => listSessions(store, filter),
    'sessions.get'({ id, offset, limit }) {
      const found = sources.transcript(id);
      if (!found) throw noSession();
      const steps = transcriptView(found.steps);
      return { session: found.session, totalSteps: steps.length, steps: steps.slice(offset, offset + limit) };
    },
    'runs.list': () => ({ runs: listRuns(store) }),
    'runs.get': ({ id }) => runDetail(store, id),
    'runs.rollouts': (query) => listRollouts(store, query),
    async 'runs.stop'({ id }) {
      const run = mustFindRun(store, id);
      if (run.status !== 'running')
        throw new TackroomError('REFUSED', `The run is ${run.status}, there is nothing to stop.`);
      await sources.stopRun(id);
      return { run: mustFindRun(store, id) };
    },
    'adapters.list': () => ({ adapters: listAdapters(store), deployments: currentDeployments(store) }),
    async 'adapters.swap'({ harness, adapterId }) {
      if (adapterId !== null && !store.adapter.get(adapterId))
        throw new TackroomError('NOT_FOUND', 'This adapter is not in the store.');
      return deployed(await sources.swap(harness, adapterId));
    },
    'adapters.rollback': async ({ harness }) => deployed(await sources.rollback(harness)),
    ...guardServices(store),
    ...cleanServices({ store, bus, vault: sources.connect.vault }),
    ...recordingServices(store),
    ...workspaceServices(store),
  };
}
