import type { DataTask } from './data-task.js';

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;

/**
 * Whether the content of the answer file solves the task: the exact text, or a number within the tolerance.
 * White space around the answer is ignored; a missing file (null) is wrong.
 */
export function checkAnswer(task: Pick<DataTask, 'answer' | 'numeric' | 'tolerance'>, content: string | null): boolean {
  if (content === null) return false;
  const given = content.trim();
  if (!task.numeric) return given === task.answer;
  return NUMBER.test(given) && Math.abs(Number(given) - Number(task.answer)) <= task.tolerance;
}
