/** The words the guard speaks: what it is asked about, what it answers, and what a rule looks like. */
import type { Harness, VerdictKind } from '../../contract/records.js';
import type { ChatMessage, ToolDefinition } from '../engine/protocol.js';

/** `training`: nobody watches, the agent is rewarded. `desktop`: a user's own work, false alarms cost more. */
export type GuardProfile = 'training' | 'desktop';
export const SEVERITIES = ['info', 'low', 'medium', 'high', 'critical'] as const;
export type Severity = (typeof SEVERITIES)[number];

export interface SampledCall {
  id: string;
  name: string;
  /** JSON text exactly as sampled. */
  arguments: string;
}

export interface GuardInput {
  harness: Harness;
  profile: GuardProfile;
  /** What the model was asked: in the chat form, whichever API the harness speaks. */
  request: { messages: ChatMessage[]; tools?: ToolDefinition[] };
  /** All calls of the new answer, in order. */
  toolCalls: SampledCall[];
  /** Name of the task, where a trainer knows it. */
  task?: string;
}

export interface CallVerdict {
  toolCallId: string;
  verdict: VerdictKind;
  /** The stage that decided; for `allow` the last one that looked. */
  stage: 1 | 2 | 3;
  /** Rule id such as `stage1.host` or `tamper.reward_write`; `none` for `allow`. */
  rule: string;
  severity: Severity;
  /** One sentence without the text of the call. */
  reason: string;
  /** Time spent on this call, milliseconds. */
  ms: number;
}

/** What a rule found; the frame decides from the severity and the profile. */
export interface Finding {
  rule: string;
  severity: Severity;
  reason: string;
  /** Overrides what the severity says, for one profile. */
  verdict?: Partial<Record<GuardProfile, VerdictKind>>;
}
