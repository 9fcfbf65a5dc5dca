import type { RecordKind } from '../../contract/records.js';

/** Fields of each record that queries filter or sort by; each is a column with an index. */
export const TABLES: Record<RecordKind, string[]> = {
  session: ['harness', 'harnessSessionId', 'origin', 'rolloutId', 'updatedAt'],
  request: ['sessionId', 'promptNode', 'adapterHash'],
  toolCall: ['sessionId', 'requestId', 'verdict'],
  verdict: ['sessionId', 'requestId', 'verdict'],
  redaction: ['sessionId'],
  candidate: ['sessionId'],
  task: ['split', 'status', 'contentHash'],
  trial: ['taskId'],
  run: ['status', 'updatedAt'],
  step: ['runId', 'step'],
  rollout: ['runId', 'step', 'split', 'phase', 'taskId', 'sessionId'],
  checkpoint: ['runId', 'step'],
  evaluation: ['runId', 'split'],
  adapter: ['hash', 'runId'],
  deployment: ['harness'],
};
