/** What the app pushes to its windows. Same table form as the calls; `coalesce` names the key of which only the newest matters. */
import { z } from 'zod';
import { Evaluation, Origin, RECORDS, type RecordKind, Rollout, Run } from './records.js';
import { EngineView } from './views.js';

const id = z.string().max(200);
const kinds = Object.keys(RECORDS) as [RecordKind, ...RecordKind[]];

export const EVENTS = {
  'record.changed': z.object({ kind: z.enum(kinds), id }),
  'run.step': z.object({
    runId: id,
    step: z.number().int().nonnegative(),
    at: z.number(),
    metrics: z.record(z.string(), z.number()),
  }),
  'run.rollout': z.object({ runId: id, rollout: Rollout }),
  'run.evaluation': z.object({ runId: id, evaluation: Evaluation }),
  'run.status': z.object({ run: Run }),
  'engine.status': z.object({ engine: EngineView }),
  'session.recorded': z.object({
    sessionId: id,
    requestId: id,
    origin: Origin,
    blocked: z.number().int(),
  }),
  /** Events were dropped because this window was too slow: read again what is on screen. */
  'window.resync': z.object({}),
} as const;

export type EventName = keyof typeof EVENTS;
export type EventData<N extends EventName> = z.infer<(typeof EVENTS)[N]>;
export type EventMessage = { [N in EventName]: { event: N; data: EventData<N> } }[EventName];

export const isEventName = (name: unknown): name is EventName =>
  typeof name === 'string' && Object.hasOwn(EVENTS, name);

/** Key under which a waiting event may be replaced by a newer one; null when each one counts. */
export function coalesceKey(message: EventMessage): string | null {
  switch (message.event) {
    case 'record.changed':
      return `record:${message.data.kind}:${message.data.id}`;
    case 'run.status':
      return `status:${message.data.run.id}`;
    case 'engine.status':
      return 'engine';
    case 'window.resync':
      return 'resync';
    default:
      return null;
  }
}
