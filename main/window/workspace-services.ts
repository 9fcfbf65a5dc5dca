/** The window's call about the working directory of a session. */
import type { WindowServices } from '../../contract/api.js';
import type { Origin } from '../../contract/records.js';
import type { Workspace } from '../../contract/workspace.js';
import {
  MAX_SHOWN_DIFF,
  MAX_SHOWN_DIFF_LINES,
  type WORKSPACE_CALLS,
  type WorkspaceState,
  type WorkspaceView,
} from '../../contract/workspace-calls.js';
import { recordingSettings } from '../record/settings.js';
import { workspaceOf } from '../record/workspace/workspace-store.js';
import type { Store } from '../store/store.js';
import { noSession } from './session-list.js';

export function workspaceServices(store: Store): Pick<WindowServices, keyof typeof WORKSPACE_CALLS> {
  return {
    'sessions.workspace'({ id }): WorkspaceState {
      const session = store.session.get(id);
      if (!session) throw noSession();
      const workspace = workspaceOf(store, id);
      if (workspace) return { captured: true, workspace: workspaceView(workspace) };
      return { captured: false, why: whyNone(session.origin, recordingSettings(store).workspace) };
    },
  };
}

function whyNone(origin: Origin, allowed: boolean): Extract<WorkspaceState, { captured: false }>['why'] {
  if (origin === 'import') return 'imported';
  if (origin !== 'user') return 'own';
  return allowed ? 'missed' : 'off';
}

/** The diff is cut at the end of a line where it has lines. */
export function workspaceView({ git, ...rest }: Workspace): WorkspaceView {
  if (!git) return { ...rest, git };
  const diff = shownPart(git.diff);
  const changedFiles = git.diff.match(/^diff --/gm)?.length ?? 0;
  return { ...rest, git: { ...git, diff, diffHidden: git.diff.length - diff.length, changedFiles } };
}

function shownPart(diff: string): string {
  let end = 0;
  for (let lines = 0; lines < MAX_SHOWN_DIFF_LINES; lines++) {
    const next = diff.indexOf('\n', end) + 1;
    if (next > MAX_SHOWN_DIFF) break;
    if (next === 0) return diff.length <= MAX_SHOWN_DIFF ? diff : diff.slice(0, end || MAX_SHOWN_DIFF);
    end = next;
  }
  return diff.slice(0, end || MAX_SHOWN_DIFF);
}
