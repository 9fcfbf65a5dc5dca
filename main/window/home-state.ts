/** Sums of the loop for the Home screen, read from the store. */
import { METRIC } from '../../contract/metrics.js';
import type { Origin, Run } from '../../contract/records.js';
import { type DeploymentView, type LoopCounts, MAX_JOB_REWARDS } from '../../contract/views.js';
import { storedVerdicts } from '../sanitize/review/verdict-store.js';
import type { Store } from '../store/store.js';

const DAY_MS = 86_400_000;
const OWN_ORIGINS: Origin[] = ['user', 'import', 'demo'];
/** Redactions looked at for the count; beyond it the numbers are a lower bound. */
const MAX_REDACTIONS = 100_000;

export function loopCounts(store: Store, now = Date.now()): LoopCounts {
  const own = OWN_ORIGINS.reduce((sum, origin) => sum + store.session.count({ where: { origin } }), 0);
  const adapters = store.adapter.list();
  const scores = adapters.map((adapter) => adapter.pass1).filter((score) => score !== null);
  const kept = (split: string): number => store.task.count({ where: { status: 'kept', split } });
  return {
    recorded: {
      sessions: own,
      rollouts: store.session.count({ where: { origin: 'rollout' } }),
      toolCalls: store.toolCall.count(),
      blocked: store.toolCall.count({ where: { verdict: 'block' } }),
      lastDay: recentOwn(store, 1000).filter((session) => session.updatedAt > now - DAY_MS).length,
    },
    clean: cleaned(store),
    tasks: {
      kept: store.task.count({ where: { status: 'kept' } }),
      dropped: store.task.count({ where: { status: 'dropped' } }),
      train: kept('train'),
      validation: kept('validation'),
      test: kept('test'),
    },
    runs: {
      total: store.run.count(),
      running: store.run.count({ where: { status: 'running' } }),
      failed: store.run.count({ where: { status: 'failed' } }),
    },
    adapters: { total: adapters.length, bestPass1: scores.length ? Math.max(...scores) : null },
  };
}

/** Of the demo, whose cleaned sessions are on record, and of the sessions that were looked at. */
function cleaned(store: Store): LoopCounts['clean'] {
  const places = new Map<string, number>();
  for (const { sessionId, occurrences } of store.redaction.list({ limit: MAX_REDACTIONS }))
    places.set(sessionId, (places.get(sessionId) ?? 0) + occurrences);
  for (const [sessionId, { summary }] of storedVerdicts(store))
    if (summary.places > 0) places.set(sessionId, summary.places);
  return { sessions: places.size, replaced: [...places.values()].reduce((sum, count) => sum + count, 0) };
}

/** Newest sessions that a person made or brought, rollouts left out. */
export function recentOwn(store: Store, limit: number) {
  return OWN_ORIGINS.flatMap((origin) => store.session.list({ where: { origin }, orderBy: 'updatedAt', limit }))
    .sort((a, b) => b.updatedAt - a.updatedAt)
    .slice(0, limit);
}

export const runningJob = (store: Store): Run | null =>
  store.run.list({ where: { status: 'running' }, orderBy: 'updatedAt', limit: 1 })[0] ?? null;

/** Reward of the run's last steps, oldest first; steps without one are left out. */
export function lastRewards(store: Store, runId: string): number[] {
  const steps = store.step.list({ where: { runId }, orderBy: 'step', limit: MAX_JOB_REWARDS });
  return steps
    .reverse()
    .map((step) => step.metrics[METRIC.reward])
    .filter((reward) => reward !== undefined);
}

/** The newest deployment of each harness. */
export function currentDeployments(store: Store): DeploymentView[] {
  const views: DeploymentView[] = [];
  for (const harness of ['pi', 'opencode', 'hermes', 'unknown'] as const) {
    const deployment = store.deployment.list({ where: { harness }, limit: 1 })[0];
    if (!deployment) continue;
    const adapter = deployment.adapterId === null ? undefined : store.adapter.get(deployment.adapterId);
    views.push({ harness, deployment, adapterName: adapter?.name ?? null, pass1: adapter?.pass1 ?? null });
  }
  return views;
}
