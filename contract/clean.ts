/** What is said of a session's cleaned copy, without any value. */
import { z } from 'zod';

const count = z.number().int().nonnegative();

export const CleanVerdict = z.enum(['pass', 'review', 'blocked']);
export type CleanVerdict = z.infer<typeof CleanVerdict>;

/**
 * Why it is not simply fine. `denied`: a rule keeps the session in. `withheld`: records still held something after the second look.
 * `low`: kinds that are told by their looks alone. `kept`: values that stay because the user said so. `images`: left out, never looked
 * at. `joined`: secrets that came in pieces. `canary`: planted fakes of known kinds that stayed.
 */
export const CleanReason = z.object({
  code: z.enum(['denied', 'withheld', 'low', 'kept', 'images', 'joined', 'canary']),
  count,
  /** Kinds or the name of a rule. */
  detail: z.string().max(300),
});
export type CleanReason = z.infer<typeof CleanReason>;

const share = z.object({ planted: count, gone: count });
export const CanaryView = z.object({
  known: share,
  unknown: share,
  kinds: z.array(share.extend({ label: z.string().max(100), known: z.boolean() })).max(100),
});
export type CanaryView = z.infer<typeof CanaryView>;

export const CleanSummary = z.object({
  verdict: CleanVerdict,
  reasons: z.array(CleanReason).max(20),
  /** The user has looked at it as it is. */
  lookedAt: z.boolean(),
  records: count,
  /** Records in which something was replaced. */
  touched: count,
  places: count,
  values: count,
  /** null: nothing could be planted. */
  canary: CanaryView.nullable(),
});
export type CleanSummary = z.infer<typeof CleanSummary>;
