/** Calls on record with the verdicts that the guard gives on them, written as the gateway writes them. */
import type { Harness, Origin } from '../../contract/records.js';
import { blockedNotice, checkResponse } from '../../main/guard/guard.js';
import { harmlessCall } from '../../main/guard/harmless-call.js';
import { Recorder } from '../../main/record/recorder.js';
import type { Store } from '../../main/store/store.js';
import { ask, BASH, callBash, request, say, user } from '../record/support.js';

export interface Judged {
  command: string;
  origin?: Origin;
  harness?: Harness;
  /** What the user asked. */
  question?: string;
  /** A blocked call became a harmless one. */
  harmless?: boolean;
  /** Unix milliseconds. */
  at?: number;
}

export function recordJudged(
  store: Store,
  judged: Judged,
): { verdictId: string; sessionId: string; requestId: string } {
  const { command, origin = 'user', harness = 'pi', question = `Do ${command.length}`, at } = judged;
  const answer = callBash('c', command);
  const messages = [ask('Hello.'), say('What can I do?'), ask(question)];
  const toolCalls = answer.tool_calls!.map(({ id, function: call }) => ({ id, ...call }));
  const [verdict] = checkResponse({
    harness,
    profile: 'desktop',
    request: { messages, tools: [BASH] },
    toolCalls,
  });
  const { toolCallId: callId, ...found } = verdict!;
  const instead = judged.harmless ? harmlessCall(toolCalls[0]!, [BASH], blockedNotice('bash', found.reason)) : null;
  const { sessionId, id } = new Recorder(store).record(
    request(messages, answer, {
      session: { ...user, harness, origin, title: question, workerKey: origin === 'rollout' ? command : null },
      ...(at !== undefined && { createdAt: at }),
      toolCalls: toolCalls.map(({ id: of, ...call }) => ({ ...call, callId: of, verdict: found.verdict })),
      verdicts: [
        { ...found, callId, ...(instead && { served: { name: instead.name, arguments: instead.arguments } }) },
      ],
    }),
  );
  return { sessionId, requestId: id, verdictId: store.verdict.list({ where: { requestId: id } })[0]!.id };
}
