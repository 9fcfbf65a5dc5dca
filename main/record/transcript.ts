/** A session as a person reads it: the requests merged into one line of steps, each said once. */
import {
  MarkKind,
  type Purpose,
  type Request,
  type Session,
  type ToolCall,
  type VerdictKind,
} from '../../contract/records.js';
import type { ChatMessage } from '../engine/protocol.js';
import type { Store } from '../store/store.js';
import { mainTurns } from './main-turns.js';
import type { MessageStore, PathLink } from './message-store.js';
import { messageText } from './session-finder.js';

export interface TranscriptCall {
  id: string;
  name: string;
  /** JSON text as sampled. */
  arguments: string;
  verdict: VerdictKind;
  /** Rule and reason of the verdict that decided; null when nothing was found. */
  rule: string | null;
  reason: string | null;
}

export interface AssistantStep {
  kind: 'assistant';
  /** null: said before the recording began. */
  requestId: string | null;
  at: number | null;
  text: string;
  toolCalls: TranscriptCall[];
  promptTokens: number;
  completionTokens: number;
  firstTokenMs: number | null;
  durationMs: number;
  adapterHash: string | null;
  finish: string;
  status: Request['status'];
  error: string | null;
  synthetic: boolean;
  /** Another server that answered, null: the engine. */
  upstream: string | null;
  /** Made beside the conversation; `purpose` says what for, where that is known. */
  auxiliary: boolean;
  purpose?: Purpose;
}

export type TranscriptStep =
  /** `mark`: nobody typed it. */
  | { kind: 'system' | 'user'; at: number; text: string; mark?: MarkKind }
  /** `exitCode` and `isError` of imported calls: as the harness reported them. */
  | { kind: 'tool'; at: number; toolCallId: string; text: string; exitCode?: number | null; isError?: boolean }
  /** The harness replaced its history (compaction, branch): `kept` messages of it stayed. */
  | { kind: 'rewrite'; at: number; kept: number }
  | AssistantStep;

export interface Transcript {
  session: Session;
  steps: TranscriptStep[];
}

export function sessionTranscript(store: Store, messages: MessageStore, sessionId: string): Transcript | undefined {
  const session = store.session.get(sessionId);
  if (!session) return undefined;
  const requests = store.request.list({ where: { sessionId } }).sort((a, b) => a.seq - b.seq);
  const main = mainTurns(requests, (node) => messages.path(node));
  const places = placesOf(store, sessionId);
  const steps: TranscriptStep[] = [];
  let previous = '';
  const goOn = (node: string, at: number): void => {
    steps.push(...newSteps(messages, places.marks, previous, node, at));
    previous = node;
  };
  const goOnTo = (seq: number, at: number): void => {
    for (let tail = places.tails[0]; tail && tail.seq <= seq; tail = places.tails[0]) {
      goOn(tail.node, at);
      places.tails.shift();
    }
  };
  for (const request of requests) {
    goOnTo(request.seq, request.createdAt);
    if (main.has(request.id)) goOn(request.promptNode, request.createdAt);
    steps.push(answerStep(store, messages, request, !main.has(request.id)));
  }
  goOnTo(Number.POSITIVE_INFINITY, session.updatedAt);
  return { session, steps: session.source ? withResults(store, sessionId, steps) : steps };
}

function placesOf(
  store: Store,
  sessionId: string,
): { tails: { node: string; seq: number }[]; marks: Map<string, MarkKind> } {
  const rows = store.db
    .prepare('SELECT node, kind, seq FROM session_place WHERE sessionId = ? ORDER BY seq')
    .all(sessionId) as {
    node: string;
    kind: string;
    seq: number;
  }[];
  const marks = rows.flatMap(({ node, kind }) => {
    const mark = MarkKind.safeParse(kind);
    return mark.success ? [[node, mark.data] as const] : [];
  });
  return { tails: rows.filter((row) => row.kind === 'tail'), marks: new Map(marks) };
}

/** Ids of calls may come again later in a session: a result belongs to the latest call before it. */
function withResults(store: Store, sessionId: string, steps: TranscriptStep[]): TranscriptStep[] {
  const records = new Map<string, { exitCode: number | null; isError: boolean }>();
  const calls = new Map<string, ToolCall[]>();
  for (const call of store.toolCall.list({ where: { sessionId } }))
    calls.set(call.requestId, [...(calls.get(call.requestId) ?? []), call]);
  return steps.map((step) => {
    if (step.kind === 'assistant')
      for (const call of calls.get(step.requestId ?? '') ?? [])
        records.set(call.callId, { exitCode: call.exitCode ?? null, isError: call.isError ?? false });
    const found = step.kind === 'tool' ? records.get(step.toolCallId) : undefined;
    return found ? { ...step, ...found } : step;
  });
}

/** What the conversation that ends at `node` says beyond the one that ended at `previous` and the answer to it. */
function newSteps(
  messages: MessageStore,
  marks: ReadonlyMap<string, MarkKind>,
  previous: string,
  node: string,
  at: number,
): TranscriptStep[] {
  const below = messages.path(node, previous);
  // Reached the root: the conversation does not go on from the earlier one.
  const rewritten = previous !== '' && below[0]?.depth === 0;
  const kept = rewritten ? sharedLength(messages.path(previous), below) : 0;
  const fresh = below.slice(kept).map((link) => ({
    ...messages.message(link.message)!,
    mark: marks.get(link.node),
  }));
  // The message after the previous prompt is the harness's replay of the answer, which is a step already.
  if (previous !== '' && !rewritten && fresh[0]?.role === 'assistant') fresh.shift();
  const steps = fresh.map(({ mark, ...message }) => messageStep(message, at, mark));
  return rewritten ? [{ kind: 'rewrite', at, kept }, ...steps] : steps;
}

function sharedLength(a: readonly PathLink[], b: readonly PathLink[]): number {
  let length = 0;
  while (length < a.length && a[length]!.node === b[length]?.node) length++;
  return length;
}

function messageStep(message: ChatMessage, at: number, mark: MarkKind | undefined): TranscriptStep {
  const text = messageText(message);
  if (message.role === 'tool') return { kind: 'tool', at, toolCallId: message.tool_call_id ?? '', text };
  if (message.role !== 'assistant')
    return { kind: message.role === 'user' ? 'user' : 'system', at, text, ...(mark && { mark }) };
  return {
    kind: 'assistant',
    requestId: null,
    at: null,
    text,
    toolCalls: (message.tool_calls ?? []).map((call) => ({
      id: call.id,
      ...call.function,
      verdict: 'allow',
      rule: null,
      reason: null,
    })),
    promptTokens: 0,
    completionTokens: 0,
    firstTokenMs: null,
    durationMs: 0,
    adapterHash: null,
    finish: '',
    status: 'ok',
    error: null,
    synthetic: false,
    upstream: null,
    auxiliary: false,
  };
}

function answerStep(store: Store, messages: MessageStore, request: Request, auxiliary: boolean): AssistantStep {
  const answer = request.answer === null ? undefined : messages.message(request.answer);
  const records = store.toolCall.list({ where: { requestId: request.id } });
  const verdicts = store.verdict.list({ where: { requestId: request.id } });
  const toolCalls = (answer?.tool_calls ?? []).map((call): TranscriptCall => {
    const record = records.find(({ callId }) => callId === call.id);
    const verdict = record?.verdict ?? 'allow';
    const found = verdicts.find(
      (one) => verdict !== 'allow' && one.toolCallId === record?.id && one.verdict === verdict,
    );
    return { id: call.id, ...call.function, verdict, rule: found?.rule ?? null, reason: found?.reason ?? null };
  });
  return {
    kind: 'assistant',
    requestId: request.id,
    at: request.createdAt,
    text: answer ? messageText(answer) : '',
    toolCalls,
    promptTokens: request.promptTokens,
    completionTokens: request.completionTokens,
    firstTokenMs: request.firstTokenMs,
    durationMs: request.durationMs,
    adapterHash: request.adapterHash,
    finish: request.finish,
    status: request.status,
    error: request.error,
    synthetic: request.synthetic,
    upstream: request.upstream,
    auxiliary,
    ...(request.purpose && { purpose: request.purpose }),
  };
}
