/** Looks at a working directory when a session begins there, with the user's consent. Runs nothing that lies in it. */
import { statSync } from 'node:fs';
import { delimiter, isAbsolute, parse } from 'node:path';
import type { Workspace } from '../../../contract/workspace.js';
import { onPath } from '../../harness/find-harness.js';
import { gitState } from './git-state.js';
import { lockFiles } from './lock-files.js';
import { runProgram } from './run-program.js';

const PROGRAM_TIMEOUT_MS = 10_000;
const TOOLS = {
  node: '--version',
  npm: '--version',
  python3: '--version',
  git: '--version',
  go: 'version',
  rustc: '--version',
};
const VERSION_BYTES = 4096;
const MAX_PROBLEMS = 32;

/** Never rejects: what cannot be looked at is named in `problems`. null: there is no such directory here that can be looked at. */
export async function captureWorkspace(cwd: string, signal: AbortSignal): Promise<Workspace | null> {
  if (!isDirectory(cwd)) return null;
  const capturedAt = Date.now();
  const problems: string[] = [];
  const tried = async <T>(what: string, work: Promise<T>, instead: T): Promise<T> => {
    try {
      return await work;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (problems.length < MAX_PROBLEMS) problems.push(`${what}: ${reason}`.slice(0, 300));
      return instead;
    }
  };
  const env = searchedEnvironment();
  const limits = { env, timeoutMs: PROGRAM_TIMEOUT_MS, signal };
  const git = onPath('git', env);
  // First, before the agent changes anything.
  const state = git === null ? null : await tried('git', gitState(git, { ...limits, cwd }), null);
  const locks = await tried('lock files', lockFiles([cwd, ...(state ? [state.root] : [])]), []);
  // Not in the directory itself: version managers would read settings there.
  const root = parse(process.execPath).root;
  const versions = await Promise.all(
    Object.entries(TOOLS).map(async ([name, flag]) => {
      const file = onPath(name, env);
      if (file === null) return [];
      const asked = runProgram(file, [flag], { ...limits, cwd: root, maxBytes: VERSION_BYTES });
      const text = await tried(
        name,
        asked.then(({ stdout }) => stdout.toString('utf8')),
        '',
      );
      const version = text.split('\n', 1)[0]!.trim().slice(0, 200);
      return version === '' ? [] : [{ name, version }];
    }),
  );
  return { cwd, capturedAt, git: state, locks, tools: versions.flat(), problems };
}

/** A prompt may name what can be no path at all. */
function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

/** Only what programs need to be found and to know their user; a relative folder on the path would lead into the project. */
function searchedEnvironment(): NodeJS.ProcessEnv {
  const { PATH = '', HOME, USERPROFILE, SystemRoot } = process.env;
  const folders = PATH.split(delimiter).filter(isAbsolute);
  return { PATH: folders.join(delimiter), HOME, USERPROFILE, SystemRoot };
}
