import type { DataTask } from './data-task.js';
import type { NameSource } from './names.js';
import type { WordPools } from './pools.js';
import type { Rng } from './random.js';

const LINES = { min: 8, max: 20 };

/** A log file and the question how many of its lines hold a word. The word may occur twice in a line, or in other case. */
export function makeLog(
  rng: Rng,
  names: NameSource,
  pools: WordPools,
): Pick<DataTask, 'files' | 'question' | 'answer' | 'numeric' | 'schema'> {
  const entity = names.pick([...pools.logNames, ...pools.entities]);
  const file = `${entity}.${rng.pick(['log', 'txt'])}`;
  const word = names.pick(pools.logWords);
  const vocabulary = [word, ...Array.from({ length: 3 }, () => names.pick(pools.logWords))];
  const lines = Array.from({ length: rng.int(LINES.min, LINES.max) }, () => {
    const first = rng.pick(vocabulary);
    const shown = rng.chance(0.25) ? otherCase(first) : first;
    const second = rng.chance(0.4) ? ` ${rng.pick(vocabulary)}` : '';
    const repeat = rng.chance(0.25) ? ` ${shown}` : '';
    return `${rng.int(10, 23)}:${rng.int(10, 59)} ${shown}${second}${repeat}`;
  });
  const question = rng.pick([
    `How many lines of ${file} contain ${word}?`,
    `In how many lines of ${file} does ${word} appear?`,
    `Count the lines of ${file} that contain ${word}.`,
  ]);
  return {
    files: { [file]: `${lines.join('\n')}\n` },
    question,
    answer: String(lines.filter((line) => line.includes(word)).length),
    numeric: true,
    schema: { entity, file, format: 'log', header: [], categories: [], numbers: [], label: '', fileNamed: true, word },
  };
}

function otherCase(word: string): string {
  return word === word.toUpperCase() ? word.toLowerCase() : word.toUpperCase();
}
