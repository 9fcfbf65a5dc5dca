/** Whether two outcomes are the same, and in which respects not. */
import type { Outcome } from './outcome.js';

export const ASPECTS = ['ended', 'code', 'answer', 'failure', 'files', 'requests', 'conversation'] as const;
export type Aspect = (typeof ASPECTS)[number];

const aspectOf: Record<Aspect, (outcome: Outcome) => unknown> = {
  ended: ({ ended }) => ended,
  code: ({ code }) => code,
  answer: ({ answer }) => answer,
  failure: ({ failure }) => failure,
  files: ({ files }) => files,
  requests: ({ asked }) => asked.length,
  conversation: ({ asked }) => asked,
};

/** The respects in which they differ. Of two that never end, how far they came says nothing. */
export function differences(direct: Outcome, proxied: Outcome): Aspect[] {
  const same = (aspect: Aspect): boolean =>
    JSON.stringify(aspectOf[aspect](direct)) === JSON.stringify(aspectOf[aspect](proxied));
  const aspects = direct.ended === 'loop' && proxied.ended === 'loop' ? (['files'] as const) : ASPECTS;
  const different = aspects.filter((aspect) => !same(aspect));
  // Another number of requests is another conversation.
  return different.includes('requests') ? different.filter((aspect) => aspect !== 'conversation') : different;
}
