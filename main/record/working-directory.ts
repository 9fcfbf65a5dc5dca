/**
 * Where a harness works, as its own prompt says it: pi 1.x and Codex in `<cwd>`, pi 0.7x and hermes after "Current working
 * directory:", opencode and Claude Code after "Working directory:".
 */
import type { ChatMessage } from '../engine/protocol.js';
import { messageText } from './session-finder.js';

const TAGGED = /<cwd>([^<]{1,4100})<\/cwd>/g;
const NAMED = /^[ \t]*(?:-[ \t]*)?(?:(?:current|primary) )?working directory:([^\n]{1,4100})$/gim;
const ABSOLUTE = /^(?:\/|[A-Za-z]:[\\/]|\\\\)/;
/** Characters of a message that are looked at. */
const MAX_TEXT = 262_144;

/** Of one message; each once. */
export const statedDirectories = (message: ChatMessage): string[] => directoriesIn(messageText(message));

export function directoriesIn(whole: string): string[] {
  const text = whole.slice(0, MAX_TEXT);
  const found = [...text.matchAll(TAGGED), ...text.matchAll(NAMED)].map((match) => match[1]!.trim());
  return [...new Set(found.filter((dir) => ABSOLUTE.test(dir)))];
}

/** Positions of the messages that a harness writes itself: its prompts, and the first user message (Codex says it there). */
export function promptPositions(messages: readonly Pick<ChatMessage, 'role'>[]): number[] {
  const firstUser = messages.findIndex(({ role }) => role === 'user');
  return messages.flatMap(({ role }, at) =>
    role === 'system' || role === 'developer' || at === firstUser ? [at] : [],
  );
}

/** The directory in which a conversation begins; undefined: it has gone on already, or names none or several. */
export function beginsIn(messages: readonly ChatMessage[]): string | undefined {
  if (messages.some(({ role }) => role === 'assistant')) return undefined;
  const stated = new Set(promptPositions(messages).flatMap((at) => statedDirectories(messages[at]!)));
  return stated.size === 1 ? [...stated][0] : undefined;
}
