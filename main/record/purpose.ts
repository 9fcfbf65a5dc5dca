/**
 * What a request is for: a turn of the conversation, or one of those that harnesses make beside it. Offered tools alone do not tell:
 * hermes' last request at its limit of turns has none and is the conversation, its review of one has some and is not. So the wording of
 * the instructions, the form of the conversation and how the answer is wanted are weighed (pi 1.6 and 0.73, opencode 1.18, hermes 0.19).
 */
import type { Harness, Purpose } from '../../contract/records.js';
import type { ChatMessage, Sampling } from '../engine/protocol.js';
import { messageText } from './session-finder.js';

export interface AskedFor {
  harness: Harness;
  messages: readonly ChatMessage[];
  hasTools: boolean;
  stream: boolean;
  sampling: Partial<Pick<Sampling, 'temperature'>>;
  /** The harness named the session that this one works for. */
  hasParent: boolean;
}

/** Requests beside the conversation; nothing trains on them. */
export const isAuxiliary = (purpose: Purpose | undefined): boolean =>
  purpose !== undefined && purpose !== 'main' && purpose !== 'subagent';

/** Enough of a text to know it by: prompts hold whole conversations. */
const HEAD = 2000;

interface Words {
  /** What the system prompt says. */
  instructions: RegExp;
  /** What the message says that is to be answered. */
  task: RegExp;
}

const REVIEW = /^Review the conversation above and (?:consider saving|update the skill)/i;
const SUBAGENT = /^You are a focused subagent\b/i;
const WORDS: Record<'title' | 'compaction' | 'approval', Words> = {
  title: {
    instructions:
      /\btitle generator\b|\bname[sd]? (?:chat |coding )?(?:sessions|conversations)\b|\bgenerate (?:a|an|the) (?:[\w-]+,? ){0,3}title\b/i,
    task: /^\s*generate (?:a|the) title for (?:this|the following)\b/i,
  },
  compaction: {
    instructions:
      /\b(?:context )?summari[sz]ation (?:agent|assistant)\b|\bsummari[sz]ing (?:conversations|what was done)\b/i,
    task: /^\s*(?:here is the conversation so far:\s*)?<conversation>|^You are a summari[sz]ation agent\b|^Summari[sz]e what was done in this conversation\b/i,
  },
  approval: {
    instructions:
      /\b(?:security|safety) reviewer\b[\s\S]*\bcommands?\b|\bassess whether (?:shell )?commands are safe\b/i,
    task: /<command>[\s\S]*\bexactly one word\b/i,
  },
};

export function purposeOf({ harness, messages, hasTools, stream, sampling, hasParent }: AskedFor): Purpose {
  const text = (message: ChatMessage | undefined): string => (message ? messageText(message).slice(0, HEAD) : '');
  const spoken = messages.filter(({ role }) => role !== 'system' && role !== 'developer');
  const instructions = messages
    .filter(({ role }) => role === 'system' || role === 'developer')
    .map(text)
    .join('\n');
  const hasHistory = spoken.some(({ role }) => role !== 'user');
  if (hasHistory && REVIEW.test(text(spoken.at(-1)))) return 'review';
  if (hasTools || hasHistory) return hasParent || SUBAGENT.test(instructions) ? 'subagent' : 'main';
  for (const kind of ['title', 'compaction', 'approval'] as const) {
    const words = WORDS[kind];
    if (words.instructions.test(instructions) || spoken.some((message) => words.task.test(text(message)))) return kind;
  }
  if (harness !== 'hermes' || stream) return 'main';
  // hermes streams what it shows, and always with a system prompt. What it asks on the side comes whole: a summary as one message without
  // instructions, a judgement at temperature zero, a title for the first exchange.
  if (instructions === '' && spoken.length === 1) return 'compaction';
  if (sampling.temperature === 0) return 'approval';
  return /^User: [\s\S]*\n\nAssistant: /.test(text(spoken[0])) ? 'title' : 'other';
}
