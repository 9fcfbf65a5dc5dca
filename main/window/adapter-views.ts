/** Adapters with where they came from and who is served by them. */
import type { AdapterView } from '../../contract/views.js';
import type { Store } from '../store/store.js';
import { currentDeployments } from './home-state.js';

const MAX_ADAPTERS = 1000;

export function listAdapters(store: Store): AdapterView[] {
  const deployments = currentDeployments(store);
  return store.adapter.list({ limit: MAX_ADAPTERS }).map((adapter) => ({
    adapter,
    runName: adapter.runId === null ? null : (store.run.get(adapter.runId)?.name ?? null),
    step: adapter.checkpointId === null ? null : (store.checkpoint.get(adapter.checkpointId)?.step ?? null),
    servedTo: deployments.filter(({ deployment }) => deployment.adapterId === adapter.id).map(({ harness }) => harness),
  }));
}
