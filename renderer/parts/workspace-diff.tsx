import { useEffect, useId, useState } from 'react';
import type { WorkspaceView } from '../../contract/workspace-calls.js';
import { visibleText } from '../logic/visible-text.js';
import { S } from '../strings.js';
import { DiffView } from './diff-view.js';

/** Whether there were uncommitted changes, and the diff once it is asked for. */
export function WorkspaceDiff({ git, expanded }: { git: NonNullable<WorkspaceView['git']>; expanded: boolean }) {
  const [open, setOpen] = useState(expanded);
  useEffect(() => setOpen(expanded), [expanded]);
  const id = useId();
  const { diff, diffHidden, diffClipped, changedFiles } = git;
  if (diff === '') return S.workspace.noChanges;
  return (
    <>
      <div className="workspace-row">
        {S.workspace.changed(changedFiles, diffClipped)}
        <button type="button" className="unfold" aria-expanded={open} aria-controls={id} onClick={() => setOpen(!open)}>
          {open ? S.workspace.hideDiff : S.workspace.showDiff}
        </button>
      </div>
      <div id={id} hidden={!open}>
        {open && <DiffView diff={visibleText(diff)} label={S.workspace.diffLabel} />}
        {diffHidden > 0 && <p className="faint">{S.workspace.diffHidden(diffHidden)}</p>}
        {diffClipped && <p className="faint">{S.workspace.diffClipped}</p>}
      </div>
    </>
  );
}
