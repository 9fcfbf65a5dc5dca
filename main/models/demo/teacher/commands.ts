import type { DataTask } from '../../../envs/generate/data-task.js';
import type { Rng } from '../../../envs/generate/random.js';
import { round2, roundHalfEven } from '../../../envs/generate/rounding.js';
import { type Cell, cellText, floatText, type PyRow, PythonError, toFloat } from './python-values.js';

/** A shell command whose Python part also runs here: `print` gives the line that the program prints. */
export interface Command {
  /** The shell command without redirection. */
  text: string;
  /** Absent for plain shell commands, which the virtual shell knows by itself. */
  python?: { file: string; print: (rows: PyRow[]) => string };
}

/** skilled: right. habit: the usual mistake of the kind. slip: right program, wrong column. */
export type Manner = 'skilled' | 'habit' | 'slip';

/** The command that answers the task's question from `file`, in the given manner. */
export function answerCommand(task: DataTask, rng: Rng, manner: Manner, file: string): Command {
  const schema = task.schema;
  if (task.kind === 'log_lines') return logCommand(schema.word!, file, manner === 'habit');
  let category = schema.category ?? '';
  let number = schema.number ?? '';
  if (manner === 'slip') {
    if (rng.chance(0.5)) category = rng.pick(schema.header.filter((name) => name !== category));
    number = rng.pick([...schema.numbers, ...schema.header].filter((name) => name !== number));
  }
  return commandFor(task, rng, manner === 'habit', file, category, number);
}

/** Lines that hold the word; the mistake is to count other spellings of it too. */
function logCommand(word: string, file: string, habit: boolean): Command {
  if (habit) return { text: `grep -ci '${word}' ${file}` };
  return { text: `python3 -c "print(sum('${word}' in l for l in open('${file}')))"` };
}

const float = (row: PyRow, name: string) => toFloat(row[name]!, '<genexpr>');
const total = (values: number[]) => values.reduce((sum, value) => sum + value, 0);
/** max/min as Python does it: keys are taken once, in order, and the first of equals wins. */
function extreme<T>(items: T[], key: (item: T) => number | string, largest: boolean): T {
  const keys = items.map(key);
  let best = 0;
  keys.forEach((k, i) => {
    if (largest ? k > keys[best]! : k < keys[best]!) best = i;
  });
  return items[best]!;
}

function commandFor(task: DataTask, rng: Rng, habit: boolean, file: string, c: string, n: string): Command {
  const {
    value: v = '',
    category2: c2 = '',
    value2: v2 = '',
    comparison = '>',
    threshold = 0,
    label,
    format,
  } = task.schema;
  const csv = format === 'csv';
  const load = csv
    ? `import csv;t=list(csv.DictReader(open('${file}')));`
    : `import json;t=json.load(open('${file}'));`;
  const python = (code: string, print: (rows: PyRow[]) => string): Command => ({
    text: `python3 -c "${load}${code}"`,
    python: { file, print },
  });
  const show = (expression: string, print: (rows: PyRow[]) => string) => python(`print(${expression})`, print);
  const count = (condition: string, test: (row: PyRow) => boolean) =>
    show(`sum(${condition} for r in t)`, (rows) => String(rows.filter(test).length));
  const floats = `float(r['${n}']) for r in t`;
  const where = ` if r['${c}']=='${v}'`;
  const matching = (rows: PyRow[]) => rows.filter((row) => row[c] === v);
  const sumOf = (rows: PyRow[]) => floatText(round2(total(rows.map((row) => float(row, n)))));
  const listed = (rows: PyRow[]) => rows.map((row) => toFloat(row[n]!, '<listcomp>'));

  switch (task.kind) {
    case 'count_where':
      if (habit) return { text: `grep -c '${v}' ${file}` };
      return count(`r['${c}']=='${v}'`, (row) => row[c] === v);
    case 'count_not':
      if (habit) return { text: `grep -vc '${v}' ${file}` };
      return count(`r['${c}']!='${v}'`, (row) => row[c] !== v);
    case 'count_both':
      if (habit) return { text: `grep -c '${v}' ${file}` };
      return count(`r['${c}']=='${v}' and r['${c2}']=='${v2}'`, (row) => row[c] === v && row[c2] === v2);
    case 'count_compare': {
      const above = comparison === '>';
      if (habit && csv)
        return count(`r['${n}']${comparison}'${threshold}'`, (row) =>
          above ? cellText(row[n]!) > String(threshold) : cellText(row[n]!) < String(threshold),
        );
      if (habit)
        return count(`float(r['${n}'])${comparison}=${threshold}`, (row) =>
          above ? float(row, n) >= threshold : float(row, n) <= threshold,
        );
      return count(`float(r['${n}'])${comparison}${threshold}`, (row) =>
        above ? float(row, n) > threshold : float(row, n) < threshold,
      );
    }
    case 'count_rows':
      if (habit) return { text: `wc -l < ${file}` };
      return show('len(t)', (rows) => String(rows.length));
    case 'sum_all':
      if (habit && rng.chance(0.4))
        return show(`round(sum(${floats})/len(t),2)`, (rows) =>
          floatText(round2(total(rows.map((row) => float(row, n))) / rows.length)),
        );
      if (habit)
        return show(`sum(int(float(r['${n}'])) for r in t)`, (rows) =>
          String(total(rows.map((row) => Math.trunc(float(row, n))))),
        );
      return show(`round(sum(${floats}),2)`, sumOf);
    case 'sum_where':
      if (habit) return show(`round(sum(${floats}),2)`, sumOf);
      return show(`round(sum(${floats}${where}),2)`, (rows) => sumWhere(matching(rows), n));
    case 'mean_all':
      if (habit)
        return show(`round(sum(${floats})/len(t))`, (rows) =>
          String(roundHalfEven(total(rows.map((row) => float(row, n))) / rows.length)),
        );
      return show(`round(sum(${floats})/len(t),2)`, (rows) =>
        floatText(round2(total(rows.map((row) => float(row, n))) / rows.length)),
      );
    case 'mean_where':
      return python(`v=[${floats}${habit ? '' : where}];print(round(sum(v)/len(v),2))`, (rows) =>
        meanText(listed(habit ? rows : matching(rows))),
      );
    case 'top_label':
    case 'bottom_label':
      return labelCommand(task.kind === 'top_label', habit);
    case 'max_value':
    case 'min_value':
      return valueCommand(task.kind === 'max_value', habit);
    case 'distinct':
      if (habit) return show(`len([r['${c}'] for r in t])`, (rows) => String(rows.length));
      return show(`len(set(r['${c}'] for r in t))`, (rows) =>
        String(new Set(rows.map((row) => cellText(row[c]!))).size),
      );
    case 'most_common':
      return python(`v=[r['${c}'] for r in t];print(max(v${habit ? '' : ',key=v.count'}))`, (rows) =>
        commonText(
          rows.map((row) => row[c]!),
          habit,
        ),
      );
    default:
      throw new Error(`No command is known for questions of the kind ${task.kind}.`);
  }

  function labelCommand(largest: boolean, naive: boolean): Command {
    const f = largest ? 'max' : 'min';
    if (naive && csv)
      return show(`${f}(t,key=lambda r:r['${n}'])['${label}']`, (rows) =>
        cellText(extreme(rows, (row) => cellText(row[n]!), largest)[label]!),
      );
    if (naive) return valueCommand(largest, false);
    return show(`${f}(t,key=lambda r:float(r['${n}']))['${label}']`, (rows) =>
      cellText(extreme(rows, (row) => toFloat(row[n]!, '<lambda>'), largest)[label]!),
    );
  }

  function valueCommand(largest: boolean, naive: boolean): Command {
    const f = largest ? 'max' : 'min';
    if (naive && csv)
      return show(`${f}(r['${n}'] for r in t)`, (rows) =>
        cellText(extreme(rows, (row) => cellText(row[n]!), largest)[n]!),
      );
    if (naive)
      return show(`${f}(int(float(r['${n}'])) for r in t)`, (rows) =>
        String(
          extreme(
            rows.map((row) => Math.trunc(float(row, n))),
            (x) => x,
            largest,
          ),
        ),
      );
    return show(`${f}(${floats})`, (rows) =>
      floatText(
        extreme(
          rows.map((row) => float(row, n)),
          (x) => x,
          largest,
        ),
      ),
    );
  }
}

/** `round(sum(...), 2)`: an empty sum is Python's integer 0. */
function sumWhere(rows: PyRow[], n: string): string {
  return rows.length === 0 ? '0' : floatText(round2(total(rows.map((row) => float(row, n)))));
}

function meanText(values: number[]): string {
  if (values.length === 0) throw new PythonError('ZeroDivisionError: division by zero');
  return floatText(round2(total(values) / values.length));
}

function commonText(cells: Cell[], naive: boolean): string {
  const texts = cells.map(cellText);
  if (!naive) return extreme(texts, (text) => texts.filter((other) => other === text).length, true);
  const asNumbers = cells.every((cell) => typeof cell !== 'string');
  return asNumbers ? extreme(texts, Number, true) : extreme(texts, (text) => text, true);
}
