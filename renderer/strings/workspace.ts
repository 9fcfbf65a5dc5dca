/** Sentences about the working directory of a session. */
const plural = (n: number, one: string, many: string): string => `${n.toLocaleString()} ${n === 1 ? one : many}`;

export const workspaceStrings = {
  title: 'Working directory',
  at: (date: string) => `as it was on ${date}`,
  folder: 'Folder',
  repository: 'Repository',
  git: 'Git',
  noGit: 'No repository that could be read.',
  commit: 'Commit',
  noCommit: 'nothing committed yet',
  branch: 'Branch',
  noBranch: 'none checked out',
  changes: 'Uncommitted',
  noChanges: 'no changes',
  changed: (files: number, clipped: boolean) =>
    files === 0 ? 'changes' : `changes in ${clipped ? 'at least ' : ''}${plural(files, 'file', 'files')}`,
  showDiff: 'Show the diff',
  hideDiff: 'Hide the diff',
  diffLabel: 'Uncommitted changes',
  diffHidden: (n: number) => `${plural(n, 'more character', 'more characters')}: tackroom sessions show prints all.`,
  diffClipped: 'It was longer than what is kept; its end was cut off when it was captured.',
  untracked: 'New files',
  noUntracked: 'none',
  untrackedClipped: 'There were more than the names kept.',
  locks: 'Lock files',
  noLocks: 'none',
  sha256: (hash: string) => `sha256 ${hash}`,
  tools: 'Tools',
  noTools: 'none found',
  problems: 'Not looked at',
  none: {
    imported: 'None was captured: this session was imported, and Tackroom was not there when it began.',
    own: 'None was captured: this session is work of Tackroom’s own, which runs in folders made for it.',
    off: 'None was captured, and capturing is off. For sessions that begin from now on you can allow it under',
    missed:
      'None was captured when this session began: it was not allowed then, the agent named no folder, or the folder is excluded or not on this machine. The setting is under',
  },
} as const;
