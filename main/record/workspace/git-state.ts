/**
 * Commit, branch and uncommitted changes of a working directory. A repository's own settings can name programs that git would
 * run (hooks, monitors, filters, external diffs, transports): each is turned off, so that looking at a folder runs nothing of it. They
 * can also name other folders: see own-repository.ts.
 */
import { resolve } from 'node:path';
import { MAX_DIFF_BYTES, MAX_UNTRACKED, type Workspace } from '../../../contract/workspace.js';
import { checkOwnRepository, folderWithGit } from './own-repository.js';
import { type ProgramLimits, type ProgramOutput, runProgram } from './run-program.js';

const SAFE = ['core.fsmonitor=false', 'core.hooksPath=/dev/null', 'core.pager=cat', 'safe.bareRepository=explicit'];
const ENVIRONMENT = {
  LC_ALL: 'C',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_TERMINAL_PROMPT: '0',
  GIT_NO_LAZY_FETCH: '1',
  GIT_ALLOW_PROTOCOL: 'none',
};
const NAMES_BYTES = 65_536;

type Git = NonNullable<Workspace['git']>;

/** `git`: the program. null: `limits.cwd` is in no repository. Rejects with a reason for a person. */
export async function gitState(git: string, limits: Omit<ProgramLimits, 'maxBytes'>): Promise<Git | null> {
  const root = folderWithGit(limits.cwd);
  if (root === null) return null;
  const env = { ...limits.env, ...ENVIRONMENT, GIT_WORK_TREE: root };
  const ask = (settings: readonly string[], args: readonly string[], maxBytes = NAMES_BYTES): Promise<ProgramOutput> =>
    runProgram(git, [...settings.flatMap((setting) => ['-c', setting]), '--no-pager', ...args], {
      ...limits,
      env,
      maxBytes,
    });
  const line = async (...args: string[]): Promise<string | null> => {
    const { code, stdout } = await ask(SAFE, args);
    return code === 0 ? stdout.toString('utf8').trimEnd() || null : null;
  };
  const dirs = await line('rev-parse', '--absolute-git-dir', '--git-common-dir');
  if (dirs === null) return null;
  const [gitDir = '', commonDir = ''] = dirs.split('\n').map((dir) => resolve(limits.cwd, dir));
  const worktree = await line('config', '--get', 'core.worktree');
  checkOwnRepository({ root, gitDir, commonDir, worktree, ref: await line('symbolic-ref', '--quiet', 'HEAD') });
  const commit = await line('rev-parse', '--verify', '--quiet', 'HEAD');
  const branch = await line('symbolic-ref', '--short', '--quiet', 'HEAD');
  const settings = [...SAFE, ...(await filtersOff(ask))];
  const changes = await ask(
    settings,
    [
      'diff',
      '--no-ext-diff',
      '--no-textconv',
      '--no-color',
      '--no-renames',
      '--ignore-submodules=all',
      commit ?? '--cached',
    ],
    MAX_DIFF_BYTES,
  );
  // In the whole repository, as the changes are.
  const others = await ask(settings, ['ls-files', '--others', '--exclude-standard', '--full-name', '-z', '--', ':/']);
  for (const { code, clipped } of [changes, others])
    if (code !== 0 && !clipped) throw new Error('git could not say what was changed in it');
  const names = others.stdout.toString('utf8').split('\0').slice(0, -1);
  return {
    root,
    commit,
    branch,
    diff: changes.stdout.toString('utf8'),
    diffClipped: changes.clipped,
    untracked: names.slice(0, MAX_UNTRACKED),
    untrackedClipped: others.clipped || names.length > MAX_UNTRACKED,
  };
}

/** To compare a file git passes it through the filters that its attributes name; without a program they pass it as it is. */
async function filtersOff(ask: (settings: string[], args: string[]) => Promise<ProgramOutput>): Promise<string[]> {
  const { stdout, clipped } = await ask(SAFE, ['config', '--name-only', '-z', '--get-regexp', '^filter\\.']);
  if (clipped) throw new Error('its settings name too many filters');
  const drivers = stdout
    .toString('utf8')
    .split('\0')
    .flatMap((key) => /^filter\.(.+)\.[^.]+$/s.exec(key)?.[1] ?? []);
  // A name with "=" cannot be set on the command line.
  if (drivers.some((driver) => driver.includes('=')))
    throw new Error('its settings name a filter that cannot be turned off');
  return [...new Set(drivers)].flatMap((driver) =>
    ['clean=', 'smudge=', 'process=', 'required=false'].map((setting) => `filter.${driver}.${setting}`),
  );
}
