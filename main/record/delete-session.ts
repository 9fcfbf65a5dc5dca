/** Deletes a session and collects what only it referred to. */
import { join } from 'node:path';
import type { Request, Session } from '../../contract/records.js';
import { removeRuleTests } from '../guard/rule-tests.js';
import { removeBackups } from '../store/backup.js';
import type { Store } from '../store/store.js';
import { nodeHash } from './message-store.js';

/** Requests that one transaction removes: other writers get their turn between two. */
const REQUESTS_A_TURN = 200;

/**
 * Returns false when there is no such session. A crash in the middle leaves a session of fewer requests, which is still
 * listed and can be deleted again.
 */
export function deleteSession(store: Store, sessionId: string): boolean {
  const turns = removeSession(store, sessionId);
  let turn = turns.next();
  if (turn.done && !turn.value) return false;
  while (!turn.done) turn = turns.next();
  forgetPages(store);
  return true;
}

/** What deleting left: copies of the database, and pages in its log. False: somebody reads the log, so it is still there. */
export function forgetPages(store: Store): boolean {
  removeBackups(join(store.home, 'tackroom.db'));
  const [outcome] = store.db.pragma('wal_checkpoint(TRUNCATE)') as [{ busy: number }];
  return outcome.busy === 0;
}

/**
 * A transaction a turn, the newest requests first. `mayGo` is asked in each, so that nothing can change in between; what is left
 * stays when it says no. Returns whether the session was removed.
 */
export function* removeSession(
  store: Store,
  sessionId: string,
  mayGo: (session: Session) => boolean = () => true,
): Generator<void, boolean> {
  // What is deleted is overwritten, not only unlinked.
  store.db.pragma('secure_delete = ON');
  const newest = store.db.prepare(
    'SELECT data FROM request WHERE sessionId = ? ORDER BY createdAt DESC, id DESC LIMIT ?',
  );
  for (;;) {
    const state = store.transaction((): 'stays' | 'more' | 'gone' => {
      const session = store.session.get(sessionId);
      if (!session || !mayGo(session)) return 'stays';
      const rows = newest.pluck().all(sessionId, REQUESTS_A_TURN) as string[];
      removeRequests(
        store,
        rows.map((row) => JSON.parse(row) as Request),
      );
      const left = store.request.count({ where: { sessionId } });
      if (left === 0) removeRest(store, sessionId);
      else store.session.put({ ...session, requests: left, toolCalls: store.toolCall.count({ where: { sessionId } }) });
      return left === 0 ? 'gone' : 'more';
    });
    if (state !== 'more') return state === 'gone';
    yield;
  }
}

function removeRequests(store: Store, requests: readonly Request[]): void {
  const drop = ['request_tokens', 'verdict', 'toolCall'].map((table) =>
    store.db.prepare(`DELETE FROM ${table} WHERE requestId = ?`),
  );
  for (const { id } of requests) {
    for (const statement of drop) statement.run(id);
    store.request.delete(id);
  }
  const leaves = requests.flatMap(({ promptNode, answer }) =>
    answer ? [nodeHash(promptNode, answer), promptNode] : [promptNode],
  );
  collectNodes(store, leaves);
  collectTools(
    store,
    requests.flatMap(({ toolsHash }) => toolsHash ?? []),
  );
}

/** Everything of a session that has no requests left. */
function removeRest(store: Store, sessionId: string): void {
  const { db } = store;
  for (const table of [
    'verdict',
    'toolCall',
    'redaction',
    'workspace',
    'clean_decision',
    'clean_verdict',
    'session_export',
  ])
    db.prepare(`DELETE FROM ${table} WHERE sessionId = ?`).run(sessionId);
  // What was found in it and never became a task.
  db.prepare(
    "DELETE FROM candidate WHERE sessionId = ? AND id NOT IN (SELECT json_extract(data, '$.candidateId') FROM task WHERE json_extract(data, '$.candidateId') IS NOT NULL)",
  ).run(sessionId);
  // With the notes of its file that are of no session.
  db.prepare(
    `DELETE FROM import_source WHERE sessionId = @sessionId OR sessionId IS NULL
     AND path IN (SELECT path FROM import_source WHERE sessionId = @sessionId)`,
  ).run({ sessionId });
  const tails = db
    .prepare("SELECT node FROM session_place WHERE sessionId = ? AND kind = 'tail'")
    .pluck()
    .all(sessionId) as string[];
  db.prepare('DELETE FROM session_place WHERE sessionId = ?').run(sessionId);
  store.session.delete(sessionId);
  removeRuleTests(store.home, sessionId);
  collectNodes(store, tails);
}

/** Walks up from each leaf and removes nodes without children and without a request that asked or answered with them. */
export function collectNodes(store: Store, leaves: readonly string[]): void {
  const { db } = store;
  const read = db.prepare('SELECT parent, message FROM message_node WHERE hash = ?');
  const hasChild = db.prepare('SELECT 1 FROM message_node WHERE parent = ? LIMIT 1');
  const asked = db.prepare('SELECT 1 FROM request WHERE promptNode = ? LIMIT 1');
  const answered = db.prepare(
    "SELECT 1 FROM request WHERE promptNode = ? AND json_extract(data, '$.answer') = ? LIMIT 1",
  );
  const isTail = db.prepare("SELECT 1 FROM session_place WHERE node = ? AND kind = 'tail' LIMIT 1");
  const dropNode = db.prepare('DELETE FROM message_node WHERE hash = ?');
  const dropMessage = db.prepare(
    'DELETE FROM message WHERE hash = ? AND NOT EXISTS (SELECT 1 FROM message_node WHERE message = ?)',
  );
  for (const leaf of leaves) {
    let at: string | null = leaf;
    while (at !== null) {
      const node = read.get(at) as { parent: string | null; message: string } | undefined;
      if (!node || hasChild.get(at) || asked.get(at) || answered.get(node.parent ?? '', node.message) || isTail.get(at))
        break;
      dropNode.run(at);
      dropMessage.run(node.message, node.message);
      at = node.parent;
    }
  }
}

/** Removes tool lists that no request names. */
export function collectTools(store: Store, hashes: Iterable<string>): void {
  const drop = store.db.prepare(
    "DELETE FROM tools WHERE hash = ? AND NOT EXISTS (SELECT 1 FROM request WHERE json_extract(data, '$.toolsHash') = ?)",
  );
  for (const hash of new Set(hashes)) drop.run(hash, hash);
}
