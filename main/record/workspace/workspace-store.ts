/** What was captured of a session's working directory; it goes with the session. */
import { Workspace } from '../../../contract/workspace.js';
import type { Store } from '../../store/store.js';

/** The first of a session stays. False: the session is gone, or there was one already. */
export function putWorkspace(store: Store, sessionId: string, workspace: Workspace): boolean {
  const body = JSON.stringify(Workspace.parse(workspace));
  const { changes } = store.db
    .prepare('INSERT OR IGNORE INTO workspace (sessionId, capturedAt, body) SELECT id, ?, ? FROM session WHERE id = ?')
    .run(workspace.capturedAt, body, sessionId);
  return changes > 0;
}

export function workspaceOf(store: Store, sessionId: string): Workspace | null {
  const body = store.db.prepare('SELECT body FROM workspace WHERE sessionId = ?').pluck().get(sessionId) as
    | string
    | undefined;
  return body === undefined ? null : Workspace.parse(JSON.parse(body));
}
