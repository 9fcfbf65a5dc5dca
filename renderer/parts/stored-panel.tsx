import type { RecordingState } from '../../contract/recording.js';
import { formatBytes, formatCount, formatDate } from '../logic/format.js';
import { S } from '../strings.js';
import { Facts } from './facts.js';
import { Panel } from './panel.js';

/** How much there is, and what the limits removed. */
export function StoredPanel({ state: { stored, lastSweep } }: { state: RecordingState }) {
  const swept =
    lastSweep === null
      ? S.recording.noSweep
      : S.recording.swept(
          lastSweep.removedByAge + lastSweep.removedBySize,
          formatBytes(Math.max(0, lastSweep.bytesBefore - lastSweep.bytesAfter)),
          formatDate(lastSweep.at),
        );
  return (
    <Panel title={S.recording.stored}>
      <Facts
        rows={[
          [S.recording.sessions, formatCount(stored.sessions)],
          [S.recording.requests, formatCount(stored.requests)],
          [S.recording.inUse, S.recording.inUseText(formatBytes(stored.bytes), formatBytes(stored.diskBytes))],
          [S.recording.oldest, stored.oldest === null ? S.none : formatDate(stored.oldest)],
          [S.recording.sweep, swept],
          ...(lastSweep && lastSweep.kept > 0
            ? ([[S.recording.keptForTasks, formatCount(lastSweep.kept)]] as const)
            : []),
        ]}
      />
    </Panel>
  );
}
