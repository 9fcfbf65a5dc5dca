import type { DataTaskSchema } from '../../../envs/generate/data-task.js';

/** A cell as Python sees it: text, or a number read from JSON that remembers whether it was written as an integer. */
export type Cell = string | PyNumber;

export interface PyNumber {
  value: number;
  int: boolean;
}

export type PyRow = Record<string, Cell>;

/** An uncaught Python exception: its last line, and the innermost frame where that is not the module. */
export class PythonError extends Error {
  constructor(
    message: string,
    readonly frame?: '<genexpr>' | '<lambda>' | '<listcomp>',
  ) {
    super(message);
  }

  /** What `python3 -c` writes to stderr up to Python 3.12 (later ones repeat the source line). */
  traceback(): string {
    const frames = ['<module>', ...(this.frame ? [this.frame] : [])].map(
      (name) => `  File "<string>", line 1, in ${name}\n`,
    );
    return `Traceback (most recent call last):\n${frames.join('')}${this.message}\n`;
  }
}

/** `str(x)` of a Python float of moderate size. */
export function floatText(x: number): string {
  return Number.isInteger(x) ? `${x}.0` : String(x);
}

/** `str(cell)`. */
export function cellText(cell: Cell): string {
  if (typeof cell === 'string') return cell;
  return cell.int ? String(cell.value) : floatText(cell.value);
}

/** `float(cell)`; throws Python's ValueError from the given frame. */
export function toFloat(cell: Cell, frame: '<genexpr>' | '<lambda>' | '<listcomp>'): number {
  if (typeof cell !== 'string') return cell.value;
  if (/^\d+(\.\d+)?$/.test(cell)) return Number(cell);
  throw new PythonError(`ValueError: could not convert string to float: '${cell}'`, frame);
}

/** The rows a csv.DictReader or json.load gives for a generated file. */
export function readRows(text: string, format: DataTaskSchema['format']): PyRow[] {
  if (format === 'csv') {
    const [header, ...lines] = text
      .trimEnd()
      .split('\n')
      .map((line) => line.split(','));
    return lines.map((cells) => Object.fromEntries(header!.map((name, i) => [name, cells[i]!])));
  }
  const lines = text.trimEnd().split('\n').slice(1, -1);
  return lines.map((line) => {
    const cells = [...line.matchAll(/"([^"]*)": (?:"([^"]*)"|([\d.]+))/g)];
    return Object.fromEntries(
      cells.map(([, name, word, number]) => [name!, word ?? { value: Number(number), int: !number!.includes('.') }]),
    );
  });
}
