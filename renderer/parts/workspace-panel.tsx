import { formatDate } from '../logic/format.js';
import { useWorkspace } from '../stores/workspace.js';
import { S } from '../strings.js';
import { Link } from './link.js';
import { Panel } from './panel.js';
import { Problem } from './problem.js';
import { WorkspaceFacts } from './workspace-facts.js';

/** The folder of session `id` as it was when the session began, or why nobody looked. */
export function WorkspacePanel({ id, expanded }: { id: string; expanded: boolean }) {
  const { id: opened, state, error, open } = useWorkspace();
  const shown = opened === id ? state : null;
  return (
    <Panel
      title={S.workspace.title}
      className="workspace"
      aside={shown?.captured && <span className="faint">{S.workspace.at(formatDate(shown.workspace.capturedAt))}</span>}
    >
      {error ? (
        <Problem error={error} onRetry={() => void open(id)} />
      ) : shown?.captured ? (
        <WorkspaceFacts workspace={shown.workspace} expanded={expanded} />
      ) : (
        <p className="muted">{shown ? <WhyNone why={shown.why} /> : S.loading}</p>
      )}
    </Panel>
  );
}

function WhyNone({ why }: { why: keyof typeof S.workspace.none }) {
  return (
    <>
      {S.workspace.none[why]}
      {(why === 'off' || why === 'missed') && (
        <>
          {' '}
          <Link to={{ screen: 'recording' }}>{S.recording.title}</Link>.
        </>
      )}
    </>
  );
}
