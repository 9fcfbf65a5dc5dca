/** One session as it is read by a person: what was said, called, judged and measured, in order. */
import { z } from 'zod';
import { VerdictKind } from './records.js';

const count = z.number().int().nonnegative();
/** Longest text sent for one step, in UTF-16 units; what is cut off is counted in `clipped`. */
export const MAX_STEP_TEXT = 200_000;
const text = z.string().max(MAX_STEP_TEXT);

export const TranscriptVerdict = z.object({
  verdict: VerdictKind,
  stage: z.number().int().min(1).max(3),
  rule: z.string(),
  severity: z.string(),
  reason: z.string(),
});
export type TranscriptVerdict = z.infer<typeof TranscriptVerdict>;

export const TranscriptCall = z.object({
  callId: z.string(),
  name: z.string(),
  /** JSON text as sampled. */
  arguments: text,
  verdict: TranscriptVerdict.nullable(),
  /** What the harness sent back; null while it has not. */
  result: text.nullable(),
  clipped: count,
});
export type TranscriptCall = z.infer<typeof TranscriptCall>;

const spoken = { text, at: z.number(), clipped: count };

export const TranscriptStep = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('system'), ...spoken }),
  z.object({ kind: z.literal('user'), ...spoken }),
  z.object({
    kind: z.literal('agent'),
    ...spoken,
    requestId: z.string(),
    calls: z.array(TranscriptCall),
    promptTokens: count,
    completionTokens: count,
    firstTokenMs: z.number().nullable(),
    durationMs: z.number(),
    adapterHash: z.string().nullable(),
    upstream: z.string().nullable(),
    finish: z.string(),
    status: z.enum(['ok', 'error', 'cancelled']),
    error: z.string().nullable(),
    synthetic: z.boolean(),
  }),
]);
export type TranscriptStep = z.infer<typeof TranscriptStep>;
export type AgentStep = Extract<TranscriptStep, { kind: 'agent' }>;
