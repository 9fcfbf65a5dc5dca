/** One session as it is read by a person: what was said, called, judged and measured, in order. */
import { z } from 'zod';
import { MarkKind, Purpose, VerdictKind } from './records.js';

const count = z.number().int().nonnegative();
/** Longest text sent for one step, in UTF-16 units; what is cut off is counted in `clipped`. */
export const MAX_STEP_TEXT = 200_000;
const text = z.string().max(MAX_STEP_TEXT);
const spoken = { text, clipped: count, at: z.number().nullable() };

export const TranscriptCall = z.object({
  callId: z.string(),
  name: z.string(),
  /** JSON text as sampled. */
  arguments: text,
  verdict: VerdictKind,
  /** Of the verdict that decided; null when nothing was found. */
  rule: z.string().nullable(),
  reason: z.string().nullable(),
  /** What the harness sent back; null while it has not. */
  result: text.nullable(),
  clipped: count,
  /** Of imported calls; null: the harness reported none. */
  exitCode: z.number().int().nullable().optional(),
});
export type TranscriptCall = z.infer<typeof TranscriptCall>;

export const TranscriptStep = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('system'), ...spoken }),
  /** `mark`: nobody typed it, and what it is. */
  z.object({ kind: z.literal('user'), ...spoken, mark: MarkKind.optional() }),
  /** A tool result whose call is not part of the session. */
  z.object({ kind: z.literal('tool'), ...spoken }),
  /** The harness replaced its history (compaction, branch): `kept` messages of it stayed. */
  z.object({ kind: z.literal('rewrite'), kept: count, at: z.number().nullable() }),
  z.object({
    kind: z.literal('agent'),
    ...spoken,
    /** null: said before the recording began. */
    requestId: z.string().nullable(),
    calls: z.array(TranscriptCall),
    promptTokens: count,
    completionTokens: count,
    firstTokenMs: z.number().nullable(),
    durationMs: z.number(),
    adapterHash: z.string().nullable(),
    finish: z.string(),
    status: z.enum(['ok', 'error', 'cancelled']),
    error: z.string().nullable(),
    /** Answered by the proxy, not sampled. */
    synthetic: z.boolean(),
    /** Another server that answered; null: the engine. */
    upstream: z.string().nullable(),
    /** Made beside the conversation; `purpose` says what for, where that is known. */
    auxiliary: z.boolean(),
    purpose: Purpose.optional(),
  }),
]);
export type TranscriptStep = z.infer<typeof TranscriptStep>;
export type AgentStep = Extract<TranscriptStep, { kind: 'agent' }>;
