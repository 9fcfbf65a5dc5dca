/** SQLite files of other programs: columns come and go between their versions, and what they hold may be damaged. */
import type { Database } from '../../store/database.js';
import { openForeign } from '../../store/foreign-database.js';
import { type SourceFile, Unreadable } from './session-writer.js';

const MAGIC = 'SQLite format 3\0';
export type Row = Record<string, unknown>;

const names = new WeakMap<SourceFile, Set<string>>();

/** Whether the file has all of `tables`. Throws Unreadable for a database that cannot be opened. */
export function hasTables(file: SourceFile, ...tables: string[]): boolean {
  if (file.head.subarray(0, MAGIC.length).toString('latin1') !== MAGIC) return false;
  let known = names.get(file);
  if (!known) {
    known = new Set(withDatabase(file, (db) => tableNames(db)));
    names.set(file, known);
  }
  return tables.every((table) => known.has(table));
}

const tableNames = (db: Database): string[] =>
  db.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").pluck().all() as string[];

function withDatabase<T>(file: SourceFile, work: (db: Database) => T): T {
  return readable(() => {
    const { db, close } = openForeign(file.path, file.head);
    try {
      return work(db);
    } finally {
      close();
    }
  });
}

/** Everything `work` yields is read at one moment of the database. */
export function* inDatabase<T>(file: SourceFile, work: (db: Database) => Iterable<T>): Generator<T> {
  const { db, close } = readable(() => openForeign(file.path, file.head));
  try {
    readable(() => db.exec('BEGIN'));
    const items = readable(() => work(db)[Symbol.iterator]());
    for (let next = readable(() => items.next()); !next.done; next = readable(() => items.next())) yield next.value;
  } finally {
    close();
  }
}

/** Errors of SQLite become Unreadable: the trouble of one source is not ours. */
export function readable<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    const { code, message } = error as { code?: unknown; message?: unknown };
    // What better-sqlite3 throws has such a code; so have errors of the file system.
    if (typeof code === 'string' && /^(?:SQLITE_|E[A-Z]+$)/.test(code))
      throw new Unreadable(`its database cannot be read (${String(message)})`, { cause: error });
    throw error;
  }
}

/** The first row that `sql` gives, read while a session is: a damaged page is the source's trouble. Throws Unreadable. */
export function firstRow(db: Database, sql: string, ...values: unknown[]): Row | undefined {
  return readable(() => db.prepare(sql).get(...values) as Row | undefined);
}

/** Rows of `table` that belong to one `parent`, in the order of their ids; quick also where the table has no index. */
export class Children {
  readonly #find: ReturnType<Database['prepare']>;

  constructor(db: Database, table: string, parent: string) {
    const indexed = (db.pragma(`index_list(${table})`) as { name: string }[]).some(({ name }) => {
      const columns = db.prepare('SELECT name FROM pragma_index_info(?) ORDER BY seqno').pluck().all(name) as string[];
      return columns[0] === parent;
    });
    if (indexed) this.#find = db.prepare(`SELECT * FROM ${table} WHERE ${parent} = ? ORDER BY id`);
    else {
      db.exec(`CREATE TEMP TABLE ${table}_of AS SELECT ${parent} AS parent, id FROM main.${table};
        CREATE INDEX temp.${table}_of_parent ON ${table}_of(parent, id);`);
      this.#find = db.prepare(
        `SELECT t.* FROM temp.${table}_of o JOIN main.${table} t ON t.id = o.id WHERE o.parent = ? ORDER BY o.id`,
      );
    }
  }

  *of(parent: string): Generator<Row> {
    const rows = readable(() => this.#find.iterate(parent));
    try {
      for (let next = readable(() => rows.next()); !next.done; next = readable(() => rows.next()))
        yield next.value as Row;
    } finally {
      rows.return?.();
    }
  }
}
