import { KINDS, type KindName, LOG_KIND, type QuestionDetail } from './kinds.js';
import { makeLog } from './log.js';
import { type NameOptions, NameSource } from './names.js';
import { poolsOf, type Split } from './pools.js';
import { Rng } from './random.js';
import { makeTable, tableText } from './table.js';

export interface DataTaskSchema extends QuestionDetail {
  entity: string;
  /** Name of the file that holds the answer. */
  file: string;
  format: 'csv' | 'json' | 'log';
  /** Column names in file order; empty for a log. */
  header: string[];
  categories: string[];
  numbers: string[];
  label: string;
  /** Whether the question names the file. */
  fileNamed: boolean;
}

/** A question about a small data file; the answer goes to `answer.txt`. */
export interface DataTask {
  seed: string;
  split: Split;
  kind: KindName;
  /** Text files of the working directory by name. */
  files: Record<string, string>;
  question: string;
  answer: string;
  numeric: boolean;
  /** Largest accepted distance of a numeric answer. */
  tolerance: number;
  schema: DataTaskSchema;
}

export interface DataTaskOptions extends NameOptions {
  /** Default: drawn from the seed. */
  kind?: KindName;
}

export const ANSWER_FILE = 'answer.txt';
/** Half a unit of the second decimal plus room for binary representation. */
const TOLERANCE = 0.0051;
const DECOY_SHARE = 0.5;
const FILE_NAMED_SHARE = 0.6;
const INSTRUCTIONS = [
  `Store just the answer in ${ANSWER_FILE}.`,
  `Save only the answer to ${ANSWER_FILE}.`,
  `Write nothing but the answer into ${ANSWER_FILE}.`,
];

export const KIND_NAMES: readonly KindName[] = [...(Object.keys(KINDS) as KindName[]), LOG_KIND];

/** The task of a seed: deterministic, with an unambiguous answer. */
export function makeDataTask(seed: string, split: Split, options: DataTaskOptions = {}): DataTask {
  for (let attempt = 0; ; attempt++) {
    const task = attemptTask(seed, split, options, attempt);
    if (task) return task;
  }
}

/** Null where the drawn table leaves the question ambiguous (a tie). */
function attemptTask(seed: string, split: Split, options: DataTaskOptions, attempt: number): DataTask | null {
  const rng = new Rng(`${split}/${seed}/${attempt}`);
  const kind = options.kind ?? new Rng(`${split}/${seed}`).pick(KIND_NAMES);
  const names = new NameSource(rng, split, options);
  const pools = poolsOf(split);
  if (kind === LOG_KIND) return finish(rng, { seed, split, kind, ...makeLog(rng, names, pools) });
  const make = KINDS[kind]!;
  const entity = names.pick(pools.entities);
  const table = makeTable(rng, names, pools, kind === 'count_both' ? rng.pick([2, 3]) : rng.pick([1, 2, 2, 3]));
  const file = `${entity}.${table.format}`;
  const fileNamed = rng.chance(FILE_NAMED_SHARE);
  const files: Record<string, string> = { [file]: tableText(table) };
  if (rng.chance(DECOY_SHARE)) files[names.pick(pools.entities) + rng.pick(['.csv', '.txt', '.json'])] = 'id,x\n1,2\n';
  const named = (role: string) => table.columns.filter((column) => column.role === role).map((column) => column.name);
  const result = make({
    rng,
    entity,
    where: fileNamed ? ` in ${file}` : '',
    rows: table.rows,
    category: rng.pick(named('category')),
    number: rng.pick(named('number')),
    label: named('label')[0]!,
    categories: named('category'),
  });
  if (!result) return null;
  const schema = {
    ...result.detail,
    entity,
    file,
    format: table.format,
    header: table.columns.map((column) => column.name),
    categories: named('category'),
    numbers: named('number'),
    label: named('label')[0]!,
    fileNamed,
  };
  return finish(rng, {
    seed,
    split,
    kind,
    files,
    question: result.question,
    answer: result.answer,
    numeric: result.numeric,
    schema,
  });
}

function finish(rng: Rng, task: Omit<DataTask, 'tolerance'>): DataTask {
  return { ...task, question: `${task.question} ${rng.pick(INSTRUCTIONS)}`, tolerance: TOLERANCE };
}
