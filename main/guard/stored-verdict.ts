/** A verdict of the store with everything that the guard saw when it gave it. */
import { TackroomError } from '../../contract/errors.js';
import type { Session, ToolCall, Verdict } from '../../contract/records.js';
import type { ChatMessage, ToolDefinition } from '../engine/protocol.js';
import type { Store } from '../store/store.js';
import { guardSettings } from './settings.js';
import type { CallVerdict, GuardInput } from './types.js';

/** Recorded conversations; the record is a later step and is handed in. */
export interface Conversations {
  /** From the first message to the one that `node` names. */
  messages(node: string): ChatMessage[];
  message(hash: string): ChatMessage | undefined;
  tools(hash: string): ToolDefinition[] | undefined;
}

export interface StoredVerdict {
  record: Verdict;
  session: Session;
  call: ToolCall;
  input: GuardInput;
  verdict: CallVerdict;
}

/** Errors: NOT_FOUND, also when the session was deleted. */
export function storedVerdict(store: Store, conversations: Conversations, id: string): StoredVerdict {
  const record = store.verdict.get(id);
  const call = record && store.toolCall.get(record.toolCallId);
  const session = record && store.session.get(record.sessionId);
  const request = record && store.request.get(record.requestId);
  if (!record || !call || !session || !request)
    throw new TackroomError(
      'NOT_FOUND',
      `There is no verdict ${id}, or its session was deleted.`,
      'List them with `tackroom guard log`.',
    );
  const answer = request.answer === null ? undefined : conversations.message(request.answer);
  const tools = request.toolsHash === null ? undefined : conversations.tools(request.toolsHash);
  const { verdict, rule, severity, reason, ms } = record;
  return {
    record,
    session,
    call,
    input: {
      harness: session.harness,
      profile: session.origin === 'rollout' ? 'training' : guardSettings(store).profile,
      request: { messages: conversations.messages(request.promptNode), ...(tools && { tools }) },
      toolCalls: (answer?.tool_calls ?? []).map(({ id: callId, function: { name, arguments: text } }) => ({
        id: callId,
        name,
        arguments: text,
      })),
    },
    verdict: {
      toolCallId: call.callId,
      verdict,
      stage: record.stage as CallVerdict['stage'],
      rule,
      severity,
      reason,
      ms,
    },
  };
}
