import { useClean } from '../stores/clean.js';
import { S } from '../strings.js';
import { CleanDecisions } from './clean-decisions.js';
import { Panel } from './panel.js';

export function CleanDecisionsPanel() {
  const { decisions, busy, working, undo } = useClean();
  return (
    <Panel title={S.clean.decisions}>
      <CleanDecisions decisions={decisions} busy={busy || working !== null} onUndo={(id) => void undo(id)} />
    </Panel>
  );
}
