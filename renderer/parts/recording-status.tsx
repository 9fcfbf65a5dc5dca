import { formatAge } from '../logic/format.js';
import { useClock } from '../stores/clock.js';
import { pauseOf, useRecording } from '../stores/recording.js';
import { S } from '../strings.js';
import { Link } from './link.js';

/** In the status bar of every screen while nothing is recorded. */
export function RecordingStatus() {
  const state = useRecording((store) => store.state);
  const now = useClock((clock) => clock.now);
  const pause = pauseOf(state, now);
  if (!pause) return null;
  return (
    <Link to={{ screen: 'recording' }} className="status-item status-paused">
      <i className="dot dot-warn" />
      {pause.left === null ? S.recording.statusPaused : S.recording.statusPausedFor(formatAge(pause.left))}
    </Link>
  );
}
