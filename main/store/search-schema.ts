/**
 * Full-text index over messages (SQLite FTS5). Triggers keep it, so a message and its entry are one transaction whoever
 * writes. The index holds words only, not texts (contentless); with secure-delete a removed message leaves none behind.
 * System prompts are left out: their words stand in every session, and a search for one would find them all.
 */

/** Characters of one message that are indexed: the time to record a message stays bounded. */
const INDEXED_CHARACTERS = 1_048_576;

/**
 * The words of a message: its text, reasoning, and names and arguments of its tool calls. Arguments are JSON text, whose
 * escapes would stick to words. A body that SQLite cannot parse (nesting beyond 1000) is stored and not indexed.
 */
const words = (body: string): string => `CASE WHEN json_valid(${body}) THEN
  (SELECT substr(group_concat(CASE key WHEN 'arguments'
     THEN replace(replace(replace(value, '\\n', ' '), '\\t', ' '), '\\r', ' ') ELSE value END, char(10)), 1, ${INDEXED_CHARACTERS})
   FROM json_tree(${body}) WHERE type = 'text' AND key IN ('content', 'text', 'reasoning_content', 'name', 'arguments'))
  ELSE '' END`;

export const SEARCH_SCHEMA = `
CREATE TABLE message_text (id INTEGER PRIMARY KEY, hash TEXT NOT NULL UNIQUE);
CREATE VIRTUAL TABLE message_words USING fts5(words, content='', tokenize='unicode61 remove_diacritics 2');
INSERT INTO message_words(message_words, rank) VALUES ('secure-delete', 1);
CREATE TRIGGER message_indexed AFTER INSERT ON message WHEN new.role NOT IN ('system', 'developer') BEGIN
  INSERT INTO message_text(hash) VALUES (new.hash);
  INSERT INTO message_words(rowid, words) VALUES (last_insert_rowid(), ${words('new.body')});
END;
CREATE TRIGGER message_forgotten AFTER DELETE ON message BEGIN
  INSERT INTO message_words(message_words, rowid, words)
    SELECT 'delete', id, ${words('old.body')} FROM message_text WHERE hash = old.hash;
  DELETE FROM message_text WHERE hash = old.hash;
END;
INSERT INTO message_text(hash) SELECT hash FROM message WHERE role NOT IN ('system', 'developer');
INSERT INTO message_words(rowid, words)
  SELECT t.id, ${words('m.body')} FROM message_text t JOIN message m ON m.hash = t.hash;
`;
