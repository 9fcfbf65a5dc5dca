/** Deletes a session and collects what only it referred to. */
import { join } from 'node:path';
import { removeRuleTests } from '../guard/rule-tests.js';
import { removeBackups } from '../store/backup.js';
import type { Store } from '../store/store.js';
import { nodeHash } from './message-store.js';

/** Returns false when there is no such session. One transaction: a crash leaves all or nothing. */
export function deleteSession(store: Store, sessionId: string): boolean {
  // What is deleted is overwritten, not only unlinked.
  store.db.pragma('secure_delete = ON');
  const deleted = store.transaction(() => {
    if (!store.session.get(sessionId)) return false;
    const requests = store.request.list({ where: { sessionId } });
    for (const table of ['verdict', 'toolCall', 'redaction'])
      store.db.prepare(`DELETE FROM ${table} WHERE sessionId = ?`).run(sessionId);
    const dropTokens = store.db.prepare('DELETE FROM request_tokens WHERE requestId = ?');
    for (const request of requests) dropTokens.run(request.id);
    store.db.prepare('DELETE FROM request WHERE sessionId = ?').run(sessionId);
    // With the notes of its file that are of no session.
    store.db
      .prepare(
        `DELETE FROM import_source WHERE sessionId = @sessionId OR sessionId IS NULL
         AND path IN (SELECT path FROM import_source WHERE sessionId = @sessionId)`,
      )
      .run({ sessionId });
    const tails = store.db
      .prepare("SELECT node FROM session_place WHERE sessionId = ? AND kind = 'tail'")
      .pluck()
      .all(sessionId) as string[];
    store.db.prepare('DELETE FROM session_place WHERE sessionId = ?').run(sessionId);
    store.session.delete(sessionId);
    const leaves = requests.flatMap(({ promptNode, answer }) =>
      answer ? [nodeHash(promptNode, answer), promptNode] : [promptNode],
    );
    collectNodes(store, [...leaves, ...tails]);
    collectTools(
      store,
      requests.flatMap(({ toolsHash }) => toolsHash ?? []),
    );
    return true;
  });
  if (deleted) {
    removeRuleTests(store.home, sessionId);
    removeBackups(join(store.home, 'tackroom.db'));
    // The log still holds the pages as they were.
    store.db.pragma('wal_checkpoint(TRUNCATE)');
  }
  return deleted;
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
