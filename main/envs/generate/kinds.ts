import type { Rng } from './random.js';
import { isNearTie, round2 } from './rounding.js';
import type { Row } from './table.js';

export type KindName =
  | 'count_where'
  | 'count_not'
  | 'count_both'
  | 'count_compare'
  | 'count_rows'
  | 'sum_all'
  | 'sum_where'
  | 'mean_all'
  | 'mean_where'
  | 'top_label'
  | 'bottom_label'
  | 'max_value'
  | 'min_value'
  | 'distinct'
  | 'most_common'
  | 'log_lines';

/** The kind that asks about a log file instead of a table. */
export const LOG_KIND = 'log_lines';

/** What a question refers to; only the fields its kind needs. */
export interface QuestionDetail {
  category?: string;
  value?: string;
  category2?: string;
  value2?: string;
  number?: string;
  comparison?: '>' | '<';
  threshold?: number;
  word?: string;
}

/** A table and the columns a question may use. */
export interface QuestionContext {
  rng: Rng;
  entity: string;
  /** " in FILE" or nothing. */
  where: string;
  rows: Row[];
  category: string;
  number: string;
  label: string;
  categories: string[];
}

export interface Question {
  question: string;
  answer: string;
  numeric: boolean;
  detail: QuestionDetail;
}

type Kind = (context: QuestionContext) => Question | null;

const ROUNDING = ' Round to 2 decimals.';

const numberOf = (row: Row, column: string) => Number(row[column]);
const sum = (values: number[]) => values.reduce((total, value) => total + value, 0);
const numeric = (question: string, answer: number, detail: QuestionDetail): Question => ({
  question,
  answer: String(answer),
  numeric: true,
  detail,
});

const countWhere: Kind = ({ rng, entity, where, rows, category }) => {
  const value = rng.pick(rows)[category]!;
  const question = rng.pick([
    `How many ${entity}${where} have ${category} ${value}?`,
    `Count the ${entity}${where} whose ${category} is ${value}.`,
    `How many of the ${entity}${where} have the ${category} ${value}?`,
  ]);
  return numeric(question, rows.filter((row) => row[category] === value).length, { category, value });
};

const countNot: Kind = ({ rng, entity, where, rows, category }) => {
  const value = rng.pick(rows)[category]!;
  const question = rng.pick([
    `How many ${entity}${where} have a ${category} other than ${value}?`,
    `Count the ${entity}${where} whose ${category} is not ${value}.`,
  ]);
  return numeric(question, rows.filter((row) => row[category] !== value).length, { category, value });
};

const countBoth: Kind = ({ rng, entity, where, rows, category, categories }) => {
  const category2 = rng.pick(categories.filter((name) => name !== category));
  const row = rng.pick(rows);
  const [value, value2] = [row[category]!, row[category2]!];
  const question = rng.pick([
    `How many ${entity}${where} have ${category} ${value} and ${category2} ${value2}?`,
    `Count the ${entity}${where} with both ${category} ${value} and ${category2} ${value2}.`,
  ]);
  const answer = rows.filter((r) => r[category] === value && r[category2] === value2).length;
  return numeric(question, answer, { category, value, category2, value2 });
};

const countCompare: Kind = ({ rng, entity, where, rows, number }) => {
  const sorted = rows.map((row) => numberOf(row, number)).sort((a, b) => a - b);
  const drawn = sorted[rng.int(1, sorted.length - 2)]!;
  const threshold = rng.chance(0.6) ? Math.trunc(drawn) : drawn;
  const comparison = rng.pick(['>', '<'] as const);
  const word = rng.pick(comparison === '>' ? ['above', 'greater than', 'more than'] : ['below', 'less than', 'under']);
  const question = rng.pick([
    `How many ${entity}${where} have a ${number} ${word} ${threshold}?`,
    `Count the ${entity}${where} with ${number} ${word} ${threshold}.`,
  ]);
  const matches = (value: number) => (comparison === '>' ? value > threshold : value < threshold);
  return numeric(question, sorted.filter(matches).length, { number, comparison, threshold });
};

const countRows: Kind = ({ rng, entity, where, rows }) => {
  const question = rng.pick([`How many ${entity} are listed${where}?`, `Count all the ${entity}${where}.`]);
  return numeric(question, rows.length, {});
};

/** A question that folds a number column, of the rows with one category value or of all; null where rounding is unsafe. */
function fold(words: string[], filtered: boolean, answer: (values: number[]) => number): Kind {
  return ({ rng, entity, where, rows, category, number }) => {
    const word = rng.pick(words);
    const value = filtered ? rng.pick(rows)[category]! : undefined;
    const chosen = rows.filter((row) => value === undefined || row[category] === value);
    const exact = answer(chosen.map((row) => numberOf(row, number)));
    if (isNearTie(exact)) return null;
    const condition =
      value === undefined ? '' : rng.pick([` with ${category} ${value}`, ` whose ${category} is ${value}`]);
    const all = value === undefined && rng.chance(0.5) ? 'all ' : 'the ';
    const question =
      `${rng.pick([`What is the ${word} ${number} of`, `Work out the ${word} ${number} of`])} ${all}${entity}${where}${condition}?${ROUNDING}`.replace(
        /^(Work out.*)\?/,
        '$1.',
      );
    const detail = value === undefined ? { number } : { number, category, value };
    return numeric(question, round2(exact), detail);
  };
}

const mean = (values: number[]) => sum(values) / values.length;

/** The label of the row with the most extreme number; null on a tie. */
function extremeLabel(words: string[], extreme: (...values: number[]) => number): Kind {
  return ({ rng, entity, where, rows, number, label }) => {
    const best = extreme(...rows.map((row) => numberOf(row, number)));
    const winners = rows.filter((row) => numberOf(row, number) === best);
    if (winners.length > 1) return null;
    const word = rng.pick(words);
    const question = rng.pick([
      `Which ${label} has the ${word} ${number} among the ${entity}${where}?`,
      `Give the ${label} of the ${entity}${where} with the ${word} ${number}.`,
    ]);
    return { question, answer: winners[0]![label]!, numeric: false, detail: { number } };
  };
}

function extremeValue(words: string[], extreme: (...values: number[]) => number): Kind {
  return ({ rng, entity, where, rows, number }) => {
    const word = rng.pick(words);
    const question = rng.pick([
      `What is the ${word} ${number} of the ${entity}${where}?`,
      `Find the ${word} ${number} among the ${entity}${where}.`,
    ]);
    return numeric(question, extreme(...rows.map((row) => numberOf(row, number))), { number });
  };
}

const distinct: Kind = ({ rng, entity, where, rows, category }) => {
  const question = rng.pick([
    `How many different ${category} values do the ${entity}${where} have?`,
    `Count the distinct ${category} values of the ${entity}${where}.`,
  ]);
  return numeric(question, new Set(rows.map((row) => row[category])).size, { category });
};

/** The most frequent value of a category; null on a tie. */
const mostCommon: Kind = ({ rng, entity, where, rows, category }) => {
  const counts = new Map<string, number>();
  for (const row of rows) counts.set(row[category]!, (counts.get(row[category]!) ?? 0) + 1);
  const most = Math.max(...counts.values());
  const winners = [...counts].filter(([, count]) => count === most);
  if (winners.length > 1) return null;
  const question = rng.pick([
    `Which ${category} is the most common among the ${entity}${where}?`,
    `What is the most frequent ${category} of the ${entity}${where}?`,
  ]);
  return { question, answer: winners[0]![0], numeric: false, detail: { category } };
};

export const KINDS: Partial<Record<KindName, Kind>> = {
  count_where: countWhere,
  count_not: countNot,
  count_both: countBoth,
  count_compare: countCompare,
  count_rows: countRows,
  sum_all: fold(['total', 'summed'], false, sum),
  sum_where: fold(['total', 'summed'], true, sum),
  mean_all: fold(['average', 'mean'], false, mean),
  mean_where: fold(['average', 'mean'], true, mean),
  top_label: extremeLabel(['highest', 'largest'], Math.max),
  bottom_label: extremeLabel(['lowest', 'smallest'], Math.min),
  max_value: extremeValue(['highest', 'largest'], Math.max),
  min_value: extremeValue(['lowest', 'smallest'], Math.min),
  distinct,
  most_common: mostCommon,
};
