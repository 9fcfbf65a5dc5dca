/** Applies live events to a run that was read earlier. Pure; steps and evaluations seen twice change nothing, the rollout sums are put right at the next read. */
import type { EventMessage } from '../../contract/events.js';
import type { Evaluation, Step } from '../../contract/records.js';
import type { RunDetail } from '../../contract/views.js';

export function applyRunEvent(detail: RunDetail, message: EventMessage): RunDetail {
  switch (message.event) {
    case 'run.step': {
      const { runId, step, at, metrics } = message.data;
      if (runId !== detail.run.id) return detail;
      const record: Step = { id: `live:${runId}:${step}`, version: 1, createdAt: at, runId, step, metrics };
      const known = detail.steps.findIndex((other) => other.step === step);
      if (known >= 0) return { ...detail, steps: detail.steps.with(known, record) };
      const steps = [...detail.steps, record].sort((a, b) => a.step - b.step);
      return { ...detail, steps, run: { ...detail.run, step: Math.max(detail.run.step, step) } };
    }
    case 'run.evaluation': {
      const { runId, evaluation } = message.data;
      if (runId !== detail.run.id) return detail;
      return { ...detail, evaluations: upsert(detail.evaluations, evaluation) };
    }
    case 'run.rollout': {
      const { runId, rollout } = message.data;
      if (runId !== detail.run.id) return detail;
      const { total, unscored, blocked } = detail.rollouts;
      const sums = {
        total: total + 1,
        unscored: unscored + (rollout.reward === null ? 1 : 0),
        blocked: blocked + rollout.blocked,
      };
      return { ...detail, rollouts: sums };
    }
    case 'run.status':
      return message.data.run.id === detail.run.id ? { ...detail, run: message.data.run } : detail;
    default:
      return detail;
  }
}

function upsert(list: Evaluation[], item: Evaluation): Evaluation[] {
  const at = list.findIndex((other) => other.id === item.id);
  return at < 0 ? [...list, item] : list.with(at, item);
}
