import type { ReactNode } from 'react';
import type { WorkspaceView } from '../../contract/workspace-calls.js';
import { formatBytes } from '../logic/format.js';
import { visibleLine } from '../logic/visible-text.js';
import { S } from '../strings.js';
import { Facts } from './facts.js';
import { FoldedText } from './folded-text.js';
import { WorkspaceDiff } from './workspace-diff.js';

const NAMES_SHOWN = 5;
type Git = NonNullable<WorkspaceView['git']>;
type Rows = (readonly [string, ReactNode])[];

const code = (text: string): ReactNode => <code>{visibleLine(text)}</code>;

/** All of it is text of others: names and versions are shown on one line each, never as markup. */
export function WorkspaceFacts({ workspace, expanded }: { workspace: WorkspaceView; expanded: boolean }) {
  const { cwd, git, locks, tools, problems } = workspace;
  const rows: Rows = [
    [S.workspace.folder, code(cwd)],
    ...(git ? gitRows(git, cwd, expanded) : ([[S.workspace.git, S.workspace.noGit]] as const)),
    [S.workspace.locks, locks.length === 0 ? S.workspace.noLocks : list(locks.map(lockText))],
    [S.workspace.tools, tools.length === 0 ? S.workspace.noTools : list(tools.map(toolText), 'workspace-row')],
  ];
  if (problems.length > 0) rows.push([S.workspace.problems, list(problems.map(visibleLine))]);
  return <Facts rows={rows} />;
}

function gitRows(git: Git, cwd: string, expanded: boolean): Rows {
  const { root, commit, branch } = git;
  const changes = <WorkspaceDiff git={git} expanded={expanded} />;
  const untracked = <Untracked git={git} expanded={expanded} />;
  return [
    ...(root === cwd ? [] : ([[S.workspace.repository, code(root)]] as const)),
    [S.workspace.commit, commit === null ? S.workspace.noCommit : code(commit)],
    [S.workspace.branch, branch === null ? S.workspace.noBranch : code(branch)],
    [S.workspace.changes, changes],
    [S.workspace.untracked, untracked],
  ];
}

function Untracked({ git: { untracked, untrackedClipped }, expanded }: { git: Git; expanded: boolean }) {
  if (untracked.length === 0 && !untrackedClipped) return S.workspace.noUntracked;
  const names = untracked.map(visibleLine).join('\n');
  return (
    <>
      <FoldedText text={names} lines={NAMES_SHOWN} expanded={expanded} />
      {untrackedClipped && <p className="faint">{S.workspace.untrackedClipped}</p>}
    </>
  );
}

function list(items: readonly ReactNode[], className?: string): ReactNode {
  return (
    <ul className={className}>
      {items.map((item, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: what was captured does not change
        <li key={i}>{item}</li>
      ))}
    </ul>
  );
}

function lockText({ path, bytes, sha256 }: WorkspaceView['locks'][number]): ReactNode {
  return (
    <span className="workspace-row">
      {code(path)} <span className="muted">{formatBytes(bytes)}</span>{' '}
      <code className="faint">{S.workspace.sha256(visibleLine(sha256))}</code>
    </span>
  );
}

/** Most programs say their name themselves: "git version 2.47.1", "Python 3.12.7". */
function toolText({ name, version }: WorkspaceView['tools'][number]): string {
  const saysName = version.toLowerCase().startsWith(name.replace(/\d+$/, ''));
  return visibleLine(saysName ? version : `${name} ${version}`);
}
