/**
 * The records that carry the loop. Each has an id, a version (of its own shape), and the ids it came from, so that from
 * any adapter one can walk back to the sessions it learned from. Times are Unix milliseconds.
 */
import { z } from 'zod';

const base = { id: z.string(), version: z.literal(1), createdAt: z.number() };
const count = z.number().int().nonnegative();

export const Harness = z.enum(['pi', 'opencode', 'hermes', 'unknown']);
export type Harness = z.infer<typeof Harness>;
export const Origin = z.enum(['user', 'rollout', 'import', 'demo']);
export type Origin = z.infer<typeof Origin>;

export const SourceHarness = z.enum(['pi', 'opencode', 'hermes', 'claude-code', 'codex', 'atif']);
export type SourceHarness = z.infer<typeof SourceHarness>;

/** Where an imported session was read from. Paths are the harness's own, as its files name them. */
export const SessionSource = z.object({
  harness: SourceHarness,
  path: z.string(),
  harnessVersion: z.string().nullable(),
  cwd: z.string().nullable(),
  /** Session (of this store, imported or not yet) that this one was forked from, works for, or goes on with. */
  parent: z.object({ sessionId: z.string(), kind: z.enum(['fork', 'subagent', 'compaction']) }).nullable(),
  /** Where the source counts tokens for the whole session only. Prompt: cached ones included. */
  usage: z.object({ promptTokens: count, completionTokens: count }).nullable(),
});
export type SessionSource = z.infer<typeof SessionSource>;
/** Why a user message was typed by nobody: a summary of what came before, a nudge of the harness, context it added, output of a command the user ran. */
export const MarkKind = z.enum(['summary', 'nudge', 'context', 'command']);
export type MarkKind = z.infer<typeof MarkKind>;

export const Session = z.object({
  ...base,
  harness: Harness,
  /** The harness's own session id, when it sent one. */
  harnessSessionId: z.string().nullable(),
  origin: Origin,
  rolloutId: z.string().nullable(),
  title: z.string(),
  model: z.string(),
  updatedAt: z.number(),
  requests: count,
  toolCalls: count,
  blocked: count,
  /** Working directory that the harness's prompt named. Imported sessions have theirs in `source`. */
  cwd: z.string().optional(),
  /** Of imported sessions. */
  source: SessionSource.optional(),
});
export type Session = z.infer<typeof Session>;

/**
 * What a request was for: a turn of the user's conversation or of a helper's own, or one that the harness makes beside it (`other`: it is
 * known that it is one, not which).
 */
export const Purpose = z.enum(['main', 'subagent', 'title', 'compaction', 'approval', 'review', 'other']);
export type Purpose = z.infer<typeof Purpose>;

export const Request = z.object({
  ...base,
  sessionId: z.string(),
  /** 0, 1, … within the session. */
  seq: count,
  api: z.enum(['chat', 'responses', 'messages']),
  stream: z.boolean(),
  model: z.string(),
  /** null: the base model answered, or an upstream server did. */
  adapterHash: z.string().nullable(),
  upstream: z.string().nullable(),
  /** Leaf of the content-addressed chain of prompt messages. */
  promptNode: z.string(),
  /** Hash of the stored answer message, as sampled (before the guard). */
  answer: z.string().nullable(),
  toolsHash: z.string().nullable(),
  sampling: z.record(z.string(), z.unknown()),
  promptTokens: count,
  completionTokens: count,
  /** Part of `promptTokens` that the server had in its cache; absent: unknown. */
  cachedTokens: count.optional(),
  finish: z.string(),
  status: z.enum(['ok', 'error', 'cancelled']),
  error: z.string().nullable(),
  firstTokenMs: z.number().nullable(),
  durationMs: z.number(),
  /** True: the answer was made by the proxy (a spent budget), not sampled; never trained on. */
  synthetic: z.boolean(),
  /** The id that another server gave its answer; absent: it gave none, or the engine answered. */
  responseId: z.string().max(200).optional(),
  /** Absent: imported, or recorded before it was looked at. */
  purpose: Purpose.optional(),
});
export type Request = z.infer<typeof Request>;

export const VerdictKind = z.enum(['allow', 'suspicious', 'block']);
export type VerdictKind = z.infer<typeof VerdictKind>;

export const ToolCall = z.object({
  ...base,
  sessionId: z.string(),
  requestId: z.string(),
  callId: z.string(),
  name: z.string(),
  /** JSON text exactly as sampled. */
  arguments: z.string(),
  verdict: VerdictKind,
  /** As the harness reported it; null: it reported none (a timeout, no command). Absent: not an imported call. */
  exitCode: z.number().int().nullable().optional(),
  isError: z.boolean().optional(),
});
export type ToolCall = z.infer<typeof ToolCall>;

export const Verdict = z.object({
  ...base,
  sessionId: z.string(),
  requestId: z.string(),
  toolCallId: z.string(),
  verdict: VerdictKind,
  stage: z.number().int().min(1).max(3),
  rule: z.string(),
  severity: z.enum(['info', 'low', 'medium', 'high', 'critical']),
  reason: z.string(),
  ms: z.number(),
  /** The call that the harness got in place of a blocked one; absent: the notice stood as text. */
  served: z.object({ name: z.string(), arguments: z.string() }).optional(),
});
export type Verdict = z.infer<typeof Verdict>;

export const Redaction = z.object({
  ...base,
  sessionId: z.string(),
  family: z.string(),
  placeholder: z.string(),
  occurrences: count,
});
export type Redaction = z.infer<typeof Redaction>;

export const Candidate = z.object({
  ...base,
  sessionId: z.string(),
  kind: z.enum(['repair', 'build', 'extend', 'qa']),
  requestIndex: count,
  check: z.string(),
  cwd: z.string(),
  startSha: z.string(),
  oracleSha: z.string(),
  files: z.array(z.string()),
  /** Set when dropped: `stage:reason`. */
  dropped: z.string().nullable(),
});
export type Candidate = z.infer<typeof Candidate>;

export const Split = z.enum(['train', 'validation', 'test', 'none']);
export type Split = z.infer<typeof Split>;

export const Task = z.object({
  ...base,
  kind: z.string(),
  split: Split,
  /** Candidate or generator seed it was made from. */
  source: z.string(),
  candidateId: z.string().nullable(),
  dir: z.string(),
  contentHash: z.string(),
  question: z.string(),
  status: z.enum(['kept', 'dropped']),
  reason: z.string().nullable(),
});
export type Task = z.infer<typeof Task>;

export const Trial = z.object({
  ...base,
  taskId: z.string(),
  name: z.string(),
  /** null: no score (not 0). */
  reward: z.number().nullable(),
  expected: z.number(),
  ok: z.boolean(),
  seconds: z.number(),
});
export type Trial = z.infer<typeof Trial>;

export const Run = z.object({
  ...base,
  name: z.string(),
  status: z.enum(['planned', 'running', 'stopped', 'failed', 'done']),
  step: count,
  steps: count,
  config: z.record(z.string(), z.unknown()),
  error: z.string().nullable(),
  updatedAt: z.number(),
  /** What it waits for, and its estimate, as shown to the user. */
  waitingFor: z.string().nullable(),
  etaMs: z.number().nullable(),
  bestCheckpointId: z.string().nullable(),
});
export type Run = z.infer<typeof Run>;

export const Step = z.object({
  ...base,
  runId: z.string(),
  step: count,
  metrics: z.record(z.string(), z.number()),
});
export type Step = z.infer<typeof Step>;

export const Rollout = z.object({
  ...base,
  runId: z.string().nullable(),
  step: count,
  split: Split,
  phase: z.string(),
  taskId: z.string(),
  group: z.string(),
  adapterHash: z.string().nullable(),
  sessionId: z.string().nullable(),
  /** null: could not be scored; dropped and counted, never 0. */
  reward: z.number().nullable(),
  verifier: z.number().nullable(),
  calls: count,
  blocked: count,
  promptTokens: count,
  completionTokens: count,
  seconds: z.number(),
  finish: z.string(),
  error: z.string().nullable(),
});
export type Rollout = z.infer<typeof Rollout>;

export const Checkpoint = z.object({
  ...base,
  runId: z.string(),
  step: count,
  dir: z.string(),
  adapterHash: z.string(),
});
export type Checkpoint = z.infer<typeof Checkpoint>;

export const Evaluation = z.object({
  ...base,
  runId: z.string().nullable(),
  /** null: the base model. */
  checkpointId: z.string().nullable(),
  adapterHash: z.string().nullable(),
  step: count,
  split: Split,
  temperature: z.number(),
  tasks: count,
  rollouts: count,
  pass1: z.number(),
  ci95: z.tuple([z.number(), z.number()]),
  callsPerSolved: z.number().nullable(),
  tokens: count,
  seconds: z.number(),
});
export type Evaluation = z.infer<typeof Evaluation>;

export const Adapter = z.object({
  ...base,
  hash: z.string(),
  name: z.string(),
  baseModel: z.string(),
  runId: z.string().nullable(),
  checkpointId: z.string().nullable(),
  dir: z.string(),
  rank: z.number(),
  alpha: z.number(),
  pass1: z.number().nullable(),
  bytes: count,
});
export type Adapter = z.infer<typeof Adapter>;

export const Deployment = z.object({
  ...base,
  harness: Harness,
  /** null: the base model. */
  adapterId: z.string().nullable(),
  adapterHash: z.string().nullable(),
  /** The deployment it replaced: rolling back walks this chain. */
  previousId: z.string().nullable(),
});
export type Deployment = z.infer<typeof Deployment>;

export const RECORDS = {
  session: Session,
  request: Request,
  toolCall: ToolCall,
  verdict: Verdict,
  redaction: Redaction,
  candidate: Candidate,
  task: Task,
  trial: Trial,
  run: Run,
  step: Step,
  rollout: Rollout,
  checkpoint: Checkpoint,
  evaluation: Evaluation,
  adapter: Adapter,
  deployment: Deployment,
} as const;
export type RecordKind = keyof typeof RECORDS;
export type RecordOf<K extends RecordKind> = z.infer<(typeof RECORDS)[K]>;
