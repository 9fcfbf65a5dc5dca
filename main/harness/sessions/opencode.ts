/** opencode's database, and what `opencode export` writes. */
import type { Database } from '../../store/database.js';
import { parseObject } from './json-lines.js';
import type { OpencodeMessage } from './opencode-messages.js';
import { type OpencodeInfo, OpencodeSession } from './opencode-session.js';
import {
  fileFingerprint,
  missingUnit,
  type SessionReader,
  type SessionUnit,
  type Skip,
  Unreadable,
} from './session-writer.js';
import { Children, hasTables, inDatabase, type Row } from './sqlite-source.js';
import { asRecord, asText } from './values.js';
import { wholeObject } from './whole-json.js';

export const opencodeReader: SessionReader = {
  harness: 'opencode',
  recognises: (file) =>
    hasTables(file, 'session', 'message', 'part') || /^\s*\{\s*"info"\s*:\s*\{/.test(file.head.toString('utf8')),
  units: (file) =>
    file.head.subarray(0, 6).toString('latin1') === 'SQLite'
      ? inDatabase(file, (db) => sessionsOf(db, file.path))
      : [exported(file)],
};

function* sessionsOf(db: Database, path: string): Generator<SessionUnit> {
  const states = ['message', 'part'].map((table) => {
    const sql = `SELECT session_id, count(*) AS rows, max(time_updated) AS last, sum(length(data)) AS size
      FROM ${table} GROUP BY session_id`;
    const rows = db.prepare(sql).all() as Row[];
    return new Map(rows.map((row) => [row.session_id, [row.rows, row.last, row.size]]));
  });
  const messages = new Children(db, 'message', 'session_id');
  const parts = new Children(db, 'part', 'message_id');
  const session = db.prepare('SELECT * FROM session WHERE id = ?');
  for (const id of db.prepare('SELECT id FROM session ORDER BY time_created, id').pluck().all()) {
    if (typeof id !== 'string') continue;
    const row = session.get(id) as Row | undefined;
    const key = `opencode\n${path}\n${id}`;
    if (!row) {
      yield missingUnit(key, id);
      continue;
    }
    yield {
      key,
      fingerprint: JSON.stringify([row.time_updated, row.title, ...states.map((state) => state.get(id) ?? null)]),
      read(writer, skip) {
        const imported = new OpencodeSession(infoOfRow(row, id), writer, skip);
        for (const message of messages.of(id)) {
          const read = messageOf(message, parts, skip);
          if (read) imported.add(read);
        }
      },
    };
  }
}

const infoOfRow = (row: Row, id: string): OpencodeInfo => ({
  id,
  parentId: asText(row.parent_id),
  directory: asText(row.directory),
  title: asText(row.title),
  version: asText(row.version),
  created: row.time_created,
});

function messageOf(row: Row, parts: Children, skip: Skip): OpencodeMessage | null {
  const id = String(row.id);
  const info = parseObject(asText(row.data) ?? '');
  if (!info) {
    skip(null, `message ${id} is not a JSON object`);
    return null;
  }
  const read: OpencodeMessage['parts'] = [];
  for (const part of parts.of(id)) {
    const data = parseObject(asText(part.data) ?? '');
    if (data) read.push(data);
    else skip(null, `part ${String(part.id)} is not a JSON object`);
  }
  return { id, info, parts: read };
}

const exported = (file: Parameters<SessionReader['units']>[0]): SessionUnit => ({
  key: `opencode\n${file.path}`,
  fingerprint: fileFingerprint(file),
  read(writer, skip) {
    const { info: told, messages } = wholeObject(file);
    const info = asRecord(told);
    const id = asText(info.id);
    if (id === null || !Array.isArray(messages)) throw new Unreadable('no export of opencode');
    const session = new OpencodeSession(
      {
        id,
        parentId: asText(info.parentID),
        directory: asText(info.directory),
        title: asText(info.title),
        version: asText(info.version),
        created: asRecord(info.time).created,
      },
      writer,
      skip,
    );
    for (const message of messages as unknown[]) {
      const { info: head, parts } = asRecord(message);
      const data = asRecord(head);
      const list = Array.isArray(parts) ? parts.map(asRecord) : [];
      if (typeof data.id === 'string') session.add({ id: data.id, info: data, parts: list });
      else skip(null, 'a message without an id');
    }
  },
});
