/**
 * Stage 3: a second opinion on calls that stage 2 found suspicious. Off unless a judge is handed in; there is none built
 * in. It sees the user's request, the call and the finding, never the model's reasoning, and can only add a block.
 */
import { textOf } from './conversation.js';
import type { CallVerdict, GuardInput, SampledCall } from './types.js';

export interface JudgeQuestion {
  /** The user's messages, oldest first. */
  userTexts: string[];
  call: SampledCall;
  rule: string;
  reason: string;
}
export interface JudgeAnswer {
  block: boolean;
  /** One sentence; used only when it blocks. */
  reason: string;
}
export type Judge = (question: JudgeQuestion) => Promise<JudgeAnswer>;

/** Verdicts after the judge. A judge that fails leaves the verdict as it was. */
export async function judgeSuspicious(
  input: GuardInput,
  verdicts: CallVerdict[],
  judge: Judge,
): Promise<CallVerdict[]> {
  const userTexts = input.request.messages
    .filter((message) => message.role === 'user')
    .map((message) => textOf(message.content));
  return Promise.all(
    verdicts.map(async (verdict, i) => {
      const call = input.toolCalls[i];
      if (verdict.verdict !== 'suspicious' || !call) return verdict;
      const start = performance.now();
      const answer = await judge({ userTexts, call, rule: verdict.rule, reason: verdict.reason }).catch(() => null);
      if (!answer?.block) return verdict;
      return {
        ...verdict,
        verdict: 'block' as const,
        stage: 3 as const,
        reason: answer.reason,
        ms: verdict.ms + performance.now() - start,
      };
    }),
  );
}
