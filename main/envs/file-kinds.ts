/** What a path is to a task: a test, a setting of a test runner, a source file. */
const TEST =
  /(?:^|\/)(?:tests?|__tests__|spec)\/|(?:^|\/)test_[^/]+\.py$|_test\.(?:py|go|rs)$|\.(?:test|spec)\.[cm]?[jt]sx?$|(?:^|\/)conftest\.py$/;
const CONFIG =
  /(?:^|\/)(?:pytest\.ini|setup\.cfg|tox\.ini|pyproject\.toml|mypy\.ini|\.?ruff\.toml|\.flake8|package\.json|[tj]sconfig[^/]*\.json|(?:jest|vitest|vite|eslint|babel)\.config\.[cm]?[jt]s|\.mocharc[^/]*|\.eslintrc[^/]*|biome\.jsonc?|Cargo\.toml|go\.mod|Makefile|CMakeLists\.txt)$/;

/**
 * Files that would change what a check does and must not be added by an agent (a pattern for Python's `re`): tests,
 * settings of runners, and hooks that run before the tests do.
 */
export const PLANTED_FILE = `${TEST.source}|${CONFIG.source}|(?:^|/)\\.(?:coveragerc|pytest_cache|env)(?:/|$)`;

export const isTestFile = (path: string): boolean => TEST.test(path);
export const isRunnerConfig = (path: string): boolean => CONFIG.test(path);
export const isPythonSource = (path: string): boolean => path.endsWith('.py') && !isTestFile(path);

/** Whether an edit of a settings file may change what the check does; a package.json counts for its scripts only. */
export function changesRunner(path: string, before: string, after: string): boolean {
  if (!path.endsWith('package.json')) return true;
  try {
    const scripts = (text: string): string =>
      JSON.stringify((JSON.parse(text) as { scripts?: unknown }).scripts ?? null);
    return scripts(before) !== scripts(after);
  } catch {
    return true;
  }
}
