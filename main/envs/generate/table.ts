import type { NameSource } from './names.js';
import type { WordPools } from './pools.js';
import type { Rng } from './random.js';

export interface Column {
  name: string;
  role: 'label' | 'category' | 'number';
  /** Values of a category column. */
  values: string[];
}

/** Cell texts by column name; numbers are kept as they are written in the file. */
export type Row = Record<string, string>;

export interface Table {
  format: 'csv' | 'json';
  /** In file order. */
  columns: Column[];
  rows: Row[];
}

const ROWS = { min: 7, max: 18 };
const CODE_LETTERS = 'ABCDEFGHKMPRTX';
/** Share of tables whose category values also turn up in other columns, so that counting by plain search goes wrong. */
const LEAKY_SHARE = 0.75;
const LEAK_INTO_LABEL = 0.3;
const LEAK_INTO_CATEGORY = 0.25;

/** A random table with one label, `categories` (1..3) category and 1..2 number columns. */
export function makeTable(rng: Rng, names: NameSource, pools: WordPools, categories: number): Table {
  const label: Column = { name: names.pick(pools.labels), role: 'label', values: [] };
  const cats = Array.from({ length: categories }, () => categoryColumn(rng, names, pools));
  const numbers = Array.from(
    { length: rng.pick([1, 2, 2]) },
    (): Column => ({ name: names.pick(pools.numbers), role: 'number', values: [] }),
  );
  const styles = new Map(numbers.map((column) => [column.name, rng.int(0, 3)]));
  const body = rng.shuffled([...cats, ...numbers]);
  const columns = rng.chance(0.2) ? rng.shuffled([label, ...body]) : [label, ...body];
  const leaky = rng.chance(LEAKY_SHARE);
  const labels = uniqueLabels(rng, names, rng.int(ROWS.min, ROWS.max));
  const rows = labels.map((text) => {
    const row: Row = {};
    for (const column of columns) {
      if (column.role === 'label') {
        row[column.name] = leaky && rng.chance(LEAK_INTO_LABEL) ? `${rng.pick(cats[0]!.values)}-${text}` : text;
      } else if (column.role === 'category') {
        row[column.name] = rng.pick(leaky && rng.chance(LEAK_INTO_CATEGORY) ? rng.pick(cats).values : column.values);
      } else {
        row[column.name] = numberText(rng, styles.get(column.name)!);
      }
    }
    return row;
  });
  return { format: rng.chance(1 / 3) ? 'json' : 'csv', columns, rows };
}

/** File text: csv with a header line, or a JSON array with one object per line. */
export function tableText(table: Table): string {
  const header = table.columns.map((column) => column.name);
  if (table.format === 'csv') {
    return [header, ...table.rows.map((row) => header.map((name) => row[name]))]
      .map((cells) => `${cells.join(',')}\n`)
      .join('');
  }
  const objects = table.rows.map((row) => {
    const cells = table.columns.map(
      ({ name, role }) => `"${name}": ${role === 'number' ? jsonNumber(row[name]!) : `"${row[name]}"`}`,
    );
    return `{${cells.join(', ')}}`;
  });
  return `[\n${objects.join(',\n')}\n]\n`;
}

/** "12.50" -> "12.5", "7.00" -> "7.0": the shortest text that keeps a decimal number decimal. */
function jsonNumber(text: string): string {
  return text.includes('.') ? text.replace(/0+$/, '').replace(/\.$/, '.0') : text;
}

function categoryColumn(rng: Rng, names: NameSource, pools: WordPools): Column {
  const name = names.pick(Object.keys(pools.categories));
  const usual = pools.categories[name];
  const count = rng.int(2, 5);
  let values: string[];
  if (usual && !rng.chance(names.inventedShare / 2)) values = rng.shuffled(usual).slice(0, count);
  else {
    const others = Object.values(pools.categories);
    values = Array.from({ length: count }, () =>
      rng.chance(names.inventedShare) ? names.invent() : rng.pick(rng.pick(others)),
    );
  }
  values = [...new Set(values)];
  if (values.length < 2) values.push(names.syllables(3));
  return { name, role: 'category', values };
}

/** Distinct row labels, all in one of three styles: "K47", a made-up word, "381". */
function uniqueLabels(rng: Rng, names: NameSource, count: number): string[] {
  const style = rng.int(0, 2);
  const seen = new Set<string>();
  while (seen.size < count) {
    if (style === 0) seen.add(rng.pick([...CODE_LETTERS]) + rng.int(10, 99));
    else if (style === 1) seen.add(names.syllables(2));
    else seen.add(String(rng.int(100, 999)));
  }
  return [...seen];
}

function numberText(rng: Rng, style: number): string {
  if (style === 0) return String(rng.int(1, 99));
  if (style === 1) return String(rng.int(100, 9999));
  if (style === 2) return (rng.int(100, 99999) / 100).toFixed(2);
  return (rng.int(10, 999) / 10).toFixed(1);
}
