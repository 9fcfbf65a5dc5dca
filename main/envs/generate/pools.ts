import { HELD_POOLS } from './pools-held.js';
import { TRAIN_POOLS } from './pools-train.js';

/** Which half of the vocabulary a task is made from. Held-out words never occur in a training task. */
export type Split = 'train' | 'held';

/** Words a task is made of. */
export interface WordPools {
  /** What the rows are: also the stem of the file's name. */
  entities: readonly string[];
  /** Category columns with their usual values. */
  categories: Readonly<Record<string, readonly string[]>>;
  /** Columns that hold numbers. */
  numbers: readonly string[];
  /** Columns that name a row. */
  labels: readonly string[];
  /** Words of log lines. */
  logWords: readonly string[];
  /** Stems of log files. */
  logNames: readonly string[];
}

export function poolsOf(split: Split): WordPools {
  return split === 'held' ? HELD_POOLS : TRAIN_POOLS;
}

/** Every word of the held-out pools, lower case. */
export function heldWords(): Set<string> {
  const pools = HELD_POOLS;
  const values = Object.values(pools.categories).flat();
  return new Set(
    [
      ...pools.entities,
      ...Object.keys(pools.categories),
      ...values,
      ...pools.numbers,
      ...pools.labels,
      ...pools.logWords,
      ...pools.logNames,
    ].map((word) => word.toLowerCase()),
  );
}
