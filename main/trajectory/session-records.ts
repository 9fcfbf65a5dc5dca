/** What an export of a session would hold, record by record, and what it leaves out. */
import { MessageStore } from '../record/message-store.js';
import { linesOf } from '../sanitize/review/document.js';
import type { Store } from '../store/store.js';
import { sessionDocument } from './export-session.js';

export interface SessionRecords {
  lines: Buffer[];
  /** Parts of messages that are no text. */
  images: number;
}

/** Errors: NOT_FOUND. */
export function sessionRecords(store: Store, id: string): SessionRecords {
  const document = sessionDocument(store, id, { format: 'atif', raw: false });
  return { lines: [...linesOf(document)], images: imagesOf(store, id) };
}

function imagesOf(store: Store, sessionId: string): number {
  const messages = new MessageStore(store.db);
  const seen = new Set<string>();
  let previous = '';
  let images = 0;
  for (const { promptNode } of store.request.list({ where: { sessionId }, descending: false })) {
    for (const { message } of messages.path(promptNode, previous)) {
      if (seen.has(message)) continue;
      seen.add(message);
      const content = messages.message(message)?.content;
      if (Array.isArray(content)) images += content.filter(({ text }) => text === undefined).length;
    }
    previous = promptNode;
  }
  return images;
}
