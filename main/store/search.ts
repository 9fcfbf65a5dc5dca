/** Which sessions contain given words: in what was said, called or returned, or in the title. */
import type { Database } from './database.js';

/** Searches with more terms are cut: each term walks the tree of messages once. */
const MAX_TERMS = 16;

/** Message -> nodes it stands at -> everything said after it -> the requests asked or answered there. */
const SESSIONS_WITH = `
WITH RECURSIVE below(node) AS (
  SELECT n.hash FROM message_words w JOIN message_text t ON t.id = w.rowid JOIN message_node n ON n.message = t.hash
    WHERE w.message_words MATCH @match
  UNION SELECT n.hash FROM message_node n JOIN below ON n.parent = below.node)
SELECT sessionId AS id FROM request WHERE promptNode IN (SELECT node FROM below)
UNION SELECT r.sessionId FROM below JOIN message_node n ON n.hash = below.node JOIN request r ON r.promptNode = n.parent
  WHERE json_extract(r.data, '$.answer') = n.message
UNION SELECT r.sessionId FROM below JOIN message_node n ON n.hash = below.node JOIN request r ON r.promptNode = ''
  WHERE n.parent IS NULL AND json_extract(r.data, '$.answer') = n.message
UNION SELECT p.sessionId FROM below JOIN session_place p ON p.node = below.node WHERE p.kind = 'tail'
UNION SELECT id FROM session WHERE instr(lower(json_extract(data, '$.title')), @plain) > 0`;

/**
 * Ids of the sessions in which every term occurs, each anywhere. A term is a word, matched by its beginning, or several in
 * quotes, matched as a phrase. Text that holds no word at all matches nothing.
 */
export function sessionsContaining(db: Database, text: string): Set<string> {
  const query = db.prepare(SESSIONS_WITH).pluck();
  let found: Set<string> | undefined;
  for (const term of searchTerms(text)) {
    const match = `"${term.replaceAll('"', '""')}" *`;
    const ids = new Set(query.all({ match, plain: term.toLowerCase() }) as string[]);
    found = found === undefined ? ids : new Set([...found].filter((id) => ids.has(id)));
  }
  return found ?? new Set();
}

export function searchTerms(text: string): string[] {
  const terms = [...text.matchAll(/"([^"]*)"?|[^\s"]+/g)].map((match) => (match[1] ?? match[0]).trim());
  return terms.filter((term) => /[\p{L}\p{N}]/u.test(term)).slice(0, MAX_TERMS);
}
