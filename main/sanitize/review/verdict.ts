/** Whether a session's cleaned copy can go as it is, should be looked at, or must stay. */
import type { CanaryView, CleanReason, CleanSummary } from '../../../contract/clean.js';
import type { ReviewPolicy } from './review.js';

export type { CanaryView };

export interface Kind {
  family: string;
  certainty: string;
  count: number;
}

/** Told by their looks or their neighbours alone: what is taken for one may be none, and others may be missed. */
const LOW_FAMILIES = new Set(['person', 'serial', 'phone', 'ssn', 'account-id']);
export const isLow = ({ family, certainty }: Pick<Kind, 'family' | 'certainty'>): boolean =>
  certainty === 'entropy' || (LOW_FAMILIES.has(family) && certainty === 'personal');

/** Of planted fakes of the kinds that detectors were made for. */
const CANARY_LEAST = 0.9;
const MAX_NAMED = 6;

export interface Looked {
  kinds: readonly Kind[];
  denied: readonly string[];
  withheld: number;
  records: number;
  touched: number;
  places: number;
  joined: number;
  images: number;
  canary: CanaryView | null;
  policy: ReviewPolicy;
}

export function summaryOf(looked: Looked): CleanSummary {
  const { kinds, policy, canary, records, touched, places } = looked;
  const low = kinds.filter((kind) => isLow(kind) && !policy.confirmed.includes(kind.family));
  const reason = (code: CleanReason['code'], count: number, detail = ''): CleanReason[] =>
    count > 0 ? [{ code, count, detail }] : [];
  const stops = [
    ...looked.denied.flatMap((name) => reason('denied', 1, name)),
    ...reason('withheld', looked.withheld),
  ].slice(0, 10);
  const missed = canary && canary.known.gone < canary.known.planted * CANARY_LEAST;
  const doubts = [
    ...reason('low', low.length, named(low)),
    ...reason('kept', policy.kept),
    ...reason('images', looked.images),
    ...reason('joined', looked.joined),
    ...reason('canary', missed ? canary.known.planted - canary.known.gone : 0),
  ];
  return {
    verdict: stops.length > 0 ? 'blocked' : doubts.length > 0 && !policy.lookedAt ? 'review' : 'pass',
    reasons: [...stops, ...doubts],
    lookedAt: policy.lookedAt,
    records,
    touched,
    places,
    values: kinds.length,
    canary,
  };
}

const named = (kinds: readonly Kind[]): string =>
  [...new Set(kinds.map(({ family }) => family))].slice(0, MAX_NAMED).join(', ').slice(0, 300);
