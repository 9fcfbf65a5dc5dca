/** The session id that a harness sends, by header or in the body. */
import type { IncomingMessage } from 'node:http';
import type { ChatRequest } from './chat-request.js';

const HEADERS = ['session_id', 'session-id', 'x-session-affinity', 'x-session-id'];
const PARENT = 'x-parent-session-id';
const SHAPE = /^[\x21-\x7e]{1,200}$/;

/** null: none was sent, or it is not printable ASCII of at most 200 characters. */
export function harnessSessionId(request: IncomingMessage, chat: Pick<ChatRequest, 'cacheKey'>): string | null {
  const offered = [...HEADERS.map((name) => request.headers[name]), chat.cacheKey];
  return offered.find((value): value is string => typeof value === 'string' && SHAPE.test(value)) ?? null;
}

/** Of the session that the asking one works for (opencode's subagents say it); null likewise. */
export function parentSessionId({ headers }: IncomingMessage): string | null {
  const offered = headers[PARENT];
  return typeof offered === 'string' && SHAPE.test(offered) ? offered : null;
}
