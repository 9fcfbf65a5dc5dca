/**
 * Schema, one string a version; never edit one that shipped, append. Record tables keep the whole record as JSON in
 * `data` and repeat the fields that queries use; blobs of token ids and messages have tables of their own.
 */
import { SEARCH_SCHEMA } from './search-schema.js';
import { TABLES } from './tables.js';

const recordTables = Object.entries(TABLES)
  .map(([kind, columns]) => {
    const list = columns.map((c) => `${c} ANY`).join(', ');
    const indexes = columns.map((c) => `CREATE INDEX ${kind}_${c} ON ${kind}(${c});`).join('\n');
    return `CREATE TABLE ${kind} (id TEXT PRIMARY KEY, createdAt INTEGER NOT NULL${list ? `, ${list}` : ''}, data TEXT NOT NULL);
${indexes}
CREATE INDEX ${kind}_createdAt ON ${kind}(createdAt);`;
  })
  .join('\n');

export const MIGRATIONS: string[] = [
  `${recordTables}
CREATE TABLE message (hash TEXT PRIMARY KEY, role TEXT NOT NULL, body TEXT NOT NULL);
CREATE TABLE message_node (hash TEXT PRIMARY KEY, parent TEXT, message TEXT NOT NULL REFERENCES message(hash), depth INTEGER NOT NULL);
CREATE TABLE tools (hash TEXT PRIMARY KEY, body TEXT NOT NULL);
CREATE TABLE request_tokens (
  requestId TEXT PRIMARY KEY,
  prefixOf TEXT,
  prefixLength INTEGER NOT NULL,
  promptSuffix BLOB NOT NULL,
  completion BLOB NOT NULL,
  logprobs BLOB NOT NULL
);
CREATE TABLE setting (key TEXT PRIMARY KEY, value TEXT NOT NULL);`,
  // Deleting a session asks who else refers to a message or a tool list.
  `CREATE INDEX message_node_parent ON message_node(parent);
CREATE INDEX message_node_message ON message_node(message);
CREATE INDEX request_toolsHash ON request(json_extract(data, '$.toolsHash'));`,
  // What was imported from where, so that a source that did not change is not read again; and places in the tree of
  // messages: ends of an imported conversation beyond its last answer ('tail', before the request `seq`), and
  // user messages that nobody typed.
  `${SEARCH_SCHEMA}
CREATE TABLE import_source (
  key TEXT PRIMARY KEY,
  path TEXT NOT NULL,
  sessionId TEXT,
  fingerprint TEXT NOT NULL,
  skipped TEXT NOT NULL
);
CREATE INDEX import_source_sessionId ON import_source(sessionId);
CREATE INDEX import_source_path ON import_source(path);
CREATE TABLE session_place (
  sessionId TEXT NOT NULL,
  node TEXT NOT NULL,
  kind TEXT NOT NULL,
  seq INTEGER NOT NULL,
  PRIMARY KEY (sessionId, node, kind)
) WITHOUT ROWID;
CREATE INDEX session_place_node ON session_place(node);`,
  // What the user answered "this was wrong" to, and the log of what the guard found, newest first.
  `CREATE TABLE guard_allowance (
  id TEXT PRIMARY KEY,
  createdAt INTEGER NOT NULL,
  rule TEXT NOT NULL,
  call TEXT NOT NULL,
  tool TEXT NOT NULL,
  verdictId TEXT NOT NULL,
  sessionId TEXT NOT NULL,
  UNIQUE (rule, call)
);
CREATE INDEX verdict_found ON verdict(createdAt, id) WHERE verdict <> 'allow';`,
  // How a user's working directory looked when a session began; and what joins recorded requests with session files.
  `CREATE TABLE workspace (sessionId TEXT PRIMARY KEY, capturedAt INTEGER NOT NULL, body TEXT NOT NULL);
CREATE INDEX request_responseId ON request(json_extract(data, '$.responseId')) WHERE json_extract(data, '$.responseId') IS NOT NULL;`,
  // What the user decided about values of a session ('': of all), sealed; and what was said of sessions, without values.
  `CREATE TABLE clean_decision (id TEXT PRIMARY KEY, sessionId TEXT NOT NULL, createdAt INTEGER NOT NULL, body BLOB NOT NULL);
CREATE INDEX clean_decision_sessionId ON clean_decision(sessionId);
CREATE TABLE clean_verdict (sessionId TEXT PRIMARY KEY, key TEXT NOT NULL, verdict TEXT NOT NULL, body TEXT NOT NULL);`,
  // Cleaned copies that were given out, and by which rules they were made. path '': printed.
  `CREATE TABLE session_export (
  sessionId TEXT NOT NULL,
  format TEXT NOT NULL,
  path TEXT NOT NULL,
  madeAt INTEGER NOT NULL,
  rules TEXT NOT NULL,
  ownRules TEXT NOT NULL,
  sessionState TEXT NOT NULL,
  inputSha256 TEXT NOT NULL,
  sha256 TEXT NOT NULL,
  PRIMARY KEY (sessionId, format, path)
) WITHOUT ROWID;
CREATE INDEX session_export_path ON session_export(path);`,
];
