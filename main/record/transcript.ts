/** A session as a person reads it: the requests merged into one line of steps, each said once. */
import type { Request, Session, VerdictKind } from '../../contract/records.js';
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
  /** A title or a summary made beside the conversation. */
  auxiliary: boolean;
}

export type TranscriptStep =
  | { kind: 'system' | 'user'; at: number; text: string }
  | { kind: 'tool'; at: number; toolCallId: string; text: string }
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
  const steps: TranscriptStep[] = [];
  let previous = '';
  for (const request of requests) {
    if (main.has(request.id)) {
      steps.push(...newSteps(messages, previous, request.promptNode, request.createdAt));
      previous = request.promptNode;
    }
    steps.push(answerStep(store, messages, request, !main.has(request.id)));
  }
  return { session, steps };
}

/** What the conversation that ends at `node` says beyond the one that ended at `previous` and the answer to it. */
function newSteps(messages: MessageStore, previous: string, node: string, at: number): TranscriptStep[] {
  const below = messages.path(node, previous);
  // Reached the root: the conversation does not go on from the earlier one.
  const rewritten = previous !== '' && below[0]?.depth === 0;
  const kept = rewritten ? sharedLength(messages.path(previous), below) : 0;
  const fresh = below.slice(kept).map(({ message }) => messages.message(message)!);
  // The message after the previous prompt is the harness's replay of the answer, which is a step already.
  if (previous !== '' && !rewritten && fresh[0]?.role === 'assistant') fresh.shift();
  const steps = fresh.map((message) => messageStep(message, at));
  return rewritten ? [{ kind: 'rewrite', at, kept }, ...steps] : steps;
}

function sharedLength(a: readonly PathLink[], b: readonly PathLink[]): number {
  let length = 0;
  while (length < a.length && a[length]!.node === b[length]?.node) length++;
  return length;
}

function messageStep(message: ChatMessage, at: number): TranscriptStep {
  const text = messageText(message);
  if (message.role === 'tool') return { kind: 'tool', at, toolCallId: message.tool_call_id ?? '', text };
  if (message.role !== 'assistant') return { kind: message.role === 'user' ? 'user' : 'system', at, text };
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
  };
}
