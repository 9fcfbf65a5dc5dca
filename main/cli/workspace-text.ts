/** A captured working directory for a terminal. */
import type { Workspace } from '../../contract/workspace.js';

export function workspaceText({ cwd, capturedAt, git, locks, tools, problems }: Workspace): string {
  const lines = [`--- working directory ${cwd} at ${new Date(capturedAt).toISOString()}`];
  if (git) {
    lines.push(`git ${git.branch ?? 'no branch'} at ${git.commit ?? 'no commit'} in ${git.root}`);
    if (git.untracked.length > 0)
      lines.push(`not in git: ${git.untracked.join(', ')}${git.untrackedClipped ? ', and more' : ''}`);
  } else lines.push('in no git repository');
  for (const { path, sha256 } of locks) lines.push(`${path} sha256 ${sha256}`);
  if (tools.length > 0) lines.push(tools.map(({ name, version }) => `${name} ${version}`).join(', '));
  lines.push(...problems.map((problem) => `not looked at: ${problem}`));
  if (git && git.diff !== '') lines.push(git.diff.trimEnd(), ...(git.diffClipped ? ['[cut here]'] : []));
  return `${lines.join('\n')}\n`;
}
