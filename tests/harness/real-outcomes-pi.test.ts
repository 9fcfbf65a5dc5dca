import { describeOutcomes } from './real/suite.js';

/** What `npm test` has time for; `npm run harnesses` runs all. */
const SHARE = new Set([
  'tool (chat)',
  'tool (responses)',
  'tool (messages)',
  'compaction (chat)',
  'a call without id (chat)',
  'an unknown finish reason (chat)',
  'JSON instead of a stream (chat)',
  'ends early (responses)',
  'breaks once (messages)',
  '429 once (chat)',
]);

describeOutcomes('pi', process.env.TACKROOM_HARNESSES === '1' ? undefined : SHARE);
