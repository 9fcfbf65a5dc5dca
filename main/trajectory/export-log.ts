/**
 * Which cleaned copies were given out, when, where to and by which rules: when rules, session or file change, a copy is stale. The
 * list stays on this machine and goes with its session.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { z } from 'zod';
import { TackroomError } from '../../contract/errors.js';
import type { CleanDocument } from '../sanitize/clean.js';
import { Decisions } from '../sanitize/review/decisions.js';
import { rulesFile } from '../sanitize/review/policy.js';
import { RULE_SET } from '../sanitize/rule-set.js';
import type { Store } from '../store/store.js';
import { Vault } from '../vault/vault.js';

const Row = z.object({
  sessionId: z.string(),
  /** `atif`, `native` or `task`. */
  format: z.string(),
  /** A file, for tasks a folder; '': it was printed. */
  path: z.string(),
  madeAt: z.number(),
  rules: z.string(),
  ownRules: z.string(),
  sessionState: z.string(),
  inputSha256: z.string(),
  /** Of what was written. */
  sha256: z.string(),
});
type Row = z.infer<typeof Row>;

/** `rules`, `own-rules`, `session`: another copy would be made today. `edited`, `gone`: the file is not what was written. */
export type ExportState = 'current' | 'rules' | 'own-rules' | 'session' | 'edited' | 'gone';
export type LoggedExport = Pick<Row, 'sessionId' | 'format' | 'path' | 'madeAt' | 'rules' | 'sha256'> & {
  state: ExportState;
};

export interface NewExport {
  sessionId: string;
  format: string;
  path: string;
  sha256: string;
  facts: CleanDocument['facts'];
}

export const textHash = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Of a session that was deleted meanwhile nothing is kept. */
export function noteExport(store: Store, made: NewExport, now = Date.now()): void {
  const { sessionId, format, path, sha256, facts } = made;
  const row: Row = {
    sessionId,
    format,
    path,
    madeAt: now,
    rules: facts.rules,
    ownRules: ownRules(store, sessionId),
    sessionState: sessionState(store, sessionId) ?? '',
    inputSha256: facts.inputSha256,
    sha256,
  };
  store.transaction(() => {
    // One file is one export, whatever was in it before.
    if (path !== '') store.db.prepare('DELETE FROM session_export WHERE path = ?').run(path);
    store.db
      .prepare(
        `INSERT OR REPLACE INTO session_export
         SELECT @sessionId, @format, @path, @madeAt, @rules, @ownRules, @sessionState, @inputSha256, @sha256
         WHERE EXISTS (SELECT 1 FROM session WHERE id = @sessionId)`,
      )
      .run(row);
  });
}

/** Newest first. */
export function loggedExports(store: Store, sessionId?: string): LoggedExport[] {
  const rows = store.db
    .prepare(
      'SELECT * FROM session_export WHERE sessionId = coalesce(?, sessionId) ORDER BY madeAt DESC, sessionId, path',
    )
    .all(sessionId ?? null)
    .map((row) => Row.parse(row));
  return rows.map(({ ownRules: _own, sessionState: _state, inputSha256: _input, ...shown }, i) => ({
    ...shown,
    state: stateOf(store, rows[i]!),
  }));
}

export const isStale = ({ state }: LoggedExport): boolean =>
  state === 'rules' || state === 'own-rules' || state === 'session';

function stateOf(store: Store, row: Row): ExportState {
  if (row.path !== '' && !existsSync(row.path)) return 'gone';
  if (row.rules !== RULE_SET) return 'rules';
  if (row.ownRules !== ownRules(store, row.sessionId)) return 'own-rules';
  if (row.sessionState !== sessionState(store, row.sessionId)) return 'session';
  return row.path !== '' && row.format !== 'task' && hashOfFile(row.path) !== row.sha256 ? 'edited' : 'current';
}

function hashOfFile(path: string): string | null {
  try {
    return createHash('sha256').update(readFileSync(path)).digest('hex');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new TackroomError('IO', `The export ${path} cannot be read.`, 'Is it still a file of yours?', { cause });
  }
}

function sessionState(store: Store, id: string): string | null {
  const session = store.session.get(id);
  return session ? `${session.updatedAt}.${session.requests}.${session.toolCalls}` : null;
}

/** Names the user's rules and decisions without reading a value. */
function ownRules(store: Store, sessionId: string): string {
  const file = rulesFile(store.home);
  const hash = createHash('sha256').update(new Decisions(store, new Vault(store.home)).ids(sessionId).join());
  if (existsSync(file)) hash.update('\0').update(readFileSync(file));
  return hash.digest('hex');
}
