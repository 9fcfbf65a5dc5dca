/**
 * The store: typed access to the record tables. One instance a process; several processes may open the same file
 * (WAL, busy timeout). `put` returns once the record is committed.
 */
import { join } from 'node:path';
import { RECORDS, type RecordKind, type RecordOf } from '../../contract/records.js';
import { type Database, openDatabase, prepared } from './database.js';
import { TABLES } from './tables.js';

export interface Query {
  /** Equality on indexed fields; null matches NULL. */
  where?: Record<string, string | number | null>;
  /** Newest first unless told; ties by id. */
  orderBy?: string;
  descending?: boolean;
  limit?: number;
  offset?: number;
}

export class Collection<K extends RecordKind> {
  constructor(
    private readonly db: Database,
    private readonly kind: K,
  ) {}

  /** Inserts or replaces, after checking the shape. */
  put(record: RecordOf<K>): RecordOf<K> {
    const checked = RECORDS[this.kind].parse(record) as RecordOf<K> & Record<string, unknown>;
    const columns = TABLES[this.kind];
    const names = ['id', 'createdAt', ...columns, 'data'];
    prepared(
      this.db,
      `INSERT INTO ${this.kind} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})
         ON CONFLICT(id) DO UPDATE SET ${names
           .slice(1)
           .map((n) => `${n} = excluded.${n}`)
           .join(', ')}`,
    ).run(checked.id, checked.createdAt, ...columns.map((c) => checked[c] ?? null), JSON.stringify(checked));
    return checked;
  }

  get(id: string): RecordOf<K> | undefined {
    const row = prepared(this.db, `SELECT data FROM ${this.kind} WHERE id = ?`).get(id) as { data: string } | undefined;
    return row && (JSON.parse(row.data) as RecordOf<K>);
  }

  /** Reads, changes and writes in one transaction. */
  update(id: string, change: (record: RecordOf<K>) => RecordOf<K>): RecordOf<K> | undefined {
    return this.db
      .transaction(() => {
        const record = this.get(id);
        return record && this.put(change(record));
      })
      .immediate();
  }

  list(query: Query = {}): RecordOf<K>[] {
    const { sql, values } = this.#where(query);
    const order = query.orderBy ?? 'createdAt';
    if (!['id', 'createdAt', ...TABLES[this.kind]].includes(order))
      throw new Error(`no index on ${this.kind}.${order}`);
    const direction = query.descending === false ? 'ASC' : 'DESC';
    const rows = prepared(
      this.db,
      `SELECT data FROM ${this.kind}${sql} ORDER BY ${order} ${direction}, id ${direction} LIMIT ? OFFSET ?`,
    ).all(...values, query.limit ?? -1, query.offset ?? 0) as { data: string }[];
    return rows.map((row) => JSON.parse(row.data) as RecordOf<K>);
  }

  count(query: Pick<Query, 'where'> = {}): number {
    const { sql, values } = this.#where(query);
    return (prepared(this.db, `SELECT count(*) AS n FROM ${this.kind}${sql}`).get(...values) as { n: number }).n;
  }

  delete(id: string): boolean {
    return this.db.prepare(`DELETE FROM ${this.kind} WHERE id = ?`).run(id).changes > 0;
  }

  #where(query: Pick<Query, 'where'>): { sql: string; values: (string | number | null)[] } {
    const entries = Object.entries(query.where ?? {});
    for (const [field] of entries)
      if (!['id', 'createdAt', ...TABLES[this.kind]].includes(field))
        throw new Error(`no index on ${this.kind}.${field}`);
    return {
      sql: entries.length ? ` WHERE ${entries.map(([field]) => `${field} IS ?`).join(' AND ')}` : '',
      values: entries.map(([, value]) => value),
    };
  }
}

type Collections = { readonly [K in RecordKind]: Collection<K> };

export interface Store extends Collections {
  readonly db: Database;
  readonly home: string;
  /** Runs `work` in one transaction. Committed work survives the death of this process. */
  transaction<T>(work: () => T): T;
  /** The same, and on the disk when it returns: it survives a power cut. Costs one flush, about 1 to 10 ms. */
  durably<T>(work: () => T): T;
  setting(key: string): unknown;
  setSetting(key: string, value: unknown): void;
  close(): void;
}

/** Opens `home`/tackroom.db. */
export function openStore(home: string): Store {
  const db = openDatabase(join(home, 'tackroom.db'));
  const collections = Object.fromEntries(
    (Object.keys(RECORDS) as RecordKind[]).map((kind) => [kind, new Collection(db, kind)]),
  ) as unknown as Collections;
  const readSetting = db.prepare('SELECT value FROM setting WHERE key = ?');
  return {
    ...collections,
    db,
    home,
    transaction: (work) => db.transaction(work).immediate(),
    durably(work) {
      db.pragma('synchronous = FULL');
      try {
        return db.transaction(work).immediate();
      } finally {
        db.pragma('synchronous = NORMAL');
      }
    },
    setting(key) {
      const row = readSetting.get(key) as { value: string } | undefined;
      return row && (JSON.parse(row.value) as unknown);
    },
    setSetting(key, value) {
      db.prepare(
        'INSERT INTO setting (key, value) VALUES (?, ?) ON CONFLICT(key) DO UPDATE SET value = excluded.value',
      ).run(key, JSON.stringify(value));
    },
    close: () => db.close(),
  };
}
