import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Request } from '../../../contract/records.js';
import { SESSION_READERS } from '../../../main/cli/sessions-import.js';
import type { ChatMessage } from '../../../main/engine/protocol.js';
import { type ImportReport, importSessions } from '../../../main/record/import-sessions.js';
import { MessageStore } from '../../../main/record/message-store.js';
import { messageText } from '../../../main/record/session-finder.js';
import { openStore, type Store } from '../../../main/store/store.js';
import { temporaryHome } from '../support.js';

export interface Home {
  store: Store;
  home: string;
  import(path: string): Promise<ImportReport>;
  requests(sessionId: string): Request[];
  prompt(request: Request): ChatMessage[];
  close(): void;
}

export function openTestHome(): Home {
  const { home, remove } = temporaryHome();
  const store = openStore(home);
  // Nothing here has to survive a power cut.
  store.db.pragma('synchronous = OFF');
  const messages = new MessageStore(store.db);
  return {
    store,
    home,
    import: (path) => importSessions(store, path, SESSION_READERS),
    requests: (sessionId) => store.request.list({ where: { sessionId } }).sort((a, b) => a.seq - b.seq),
    prompt: (request) => (request.promptNode === '' ? [] : messages.messages(request.promptNode)),
    close() {
      store.close();
      remove();
    },
  };
}

/** Everything an import writes, for comparing two imports. */
export function contents(store: Store): Record<string, unknown[]> {
  const tables = [
    'session',
    'request',
    'toolCall',
    'message',
    'message_node',
    'session_place',
    'tools',
    'import_source',
  ];
  return Object.fromEntries(
    tables.map((table) => [table, store.db.prepare(`SELECT * FROM ${table} ORDER BY 1, 2`).all()]),
  );
}

/** Who said what, in a form that the wire and a session file share. */
export const outline = (messages: readonly ChatMessage[]): string[] =>
  messages.map((message) => {
    const calls = (message.tool_calls ?? []).map((call) => `${call.id}:${call.function.name}`).join(',');
    return `${message.role}|${messageText(message).trim()}|${calls}|${message.tool_call_id ?? ''}`;
  });

/** Prompts of the conversation itself that a scripted server saw in a fixture. */
export function servedPrompts(scenario: string, { withoutTools = false } = {}): ChatMessage[][] {
  return readdirSync(join(scenario, 'http'))
    .filter((name) => (withoutTools ? /^\d+-chat(?:-aux)?\.request/ : /^\d+-chat\.request/).test(name))
    .sort()
    .map((name) => (JSON.parse(readFileSync(join(scenario, 'http', name), 'utf8')) as Served).body)
    .filter((body) => withoutTools || body.tools !== undefined)
    .map((body) => body.messages);
}
interface Served {
  body: { messages: ChatMessage[]; tools?: unknown };
}

export function filesBelow(dir: string, ending: string): string[] {
  return readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending) && statSync(join(dir, name)).isFile())
    .sort()
    .map((name) => join(dir, name));
}
