/** Facts in the output of a check: which tests or errors failed, and how many tests passed. */

const FAILING: RegExp[] = [
  /^(?:FAIL|ERROR): (\S+ \([^)]*\))/gm, // unittest
  /^(?:FAILED|ERROR) (\S+?)(?: - |$)/gm, // pytest
  /^not ok \d+ - (.+?)(?: #.*)?$/gm, // TAP
  /\berror (TS\d+)/g,
  /^test (\S+) \.\.\. FAILED$/gm, // cargo
  /^--- FAIL: (\S+)/gm, // go
];

/** Sorted ids of what failed; empty when the output names none. */
export function failingIds(output: string): string[] {
  const ids = FAILING.flatMap((pattern) => [...output.matchAll(pattern)].map((match) => match[1]!));
  // Python 3.11 repeats the method in the parentheses: `test_a (m.Case.test_a)`.
  return [...new Set(ids.map((id) => id.replace(/^(\S+) \((\S+?)(?:\.\1)?\)$/, '$2.$1')))].sort();
}

/** Whether two failing runs failed alike: same exit code (where both are known) and same failing ids (where both name some). */
export function failedAlike(
  recorded: { code: number | null; output: string },
  again: { code: number | null; output: string },
): boolean {
  if (again.code === 0 || again.code === null) return false;
  if (recorded.code !== null && recorded.code !== again.code) return false;
  const [before, after] = [failingIds(recorded.output), failingIds(again.output)];
  return before.length === 0 || after.length === 0 || JSON.stringify(before) === JSON.stringify(after);
}

/** Patterns (Python and JavaScript alike) whose group is a count of passed tests. */
const SUMMARIES = ['(\\d+) passed', '^Ran (\\d+) tests? in', '^# pass (\\d+)$', '^ℹ pass (\\d+)$'];

/** The first summary a passing run printed, for the verifier to look for again. */
export function passedSummary(output: string): { pattern: string; count: number } | null {
  for (const pattern of SUMMARIES) {
    const count = [...output.matchAll(new RegExp(pattern, 'gm'))].reduce((sum, match) => sum + Number(match[1]), 0);
    if (count > 0) return { pattern, count };
  }
  return null;
}
