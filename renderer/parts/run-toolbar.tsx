import { useRunView } from '../stores/run-view.js';
import { S } from '../strings.js';

/** How the charts are looked at: smoothing, zoom, following. */
export function RunToolbar() {
  const { smoothing, zoom, following, setSmoothing, follow } = useRunView();
  return (
    <div className="run-toolbar">
      <button
        type="button"
        className={following ? 'follow follow-on' : 'follow'}
        aria-pressed={following}
        onClick={follow}
      >
        <span className="pill-dot" aria-hidden="true" />
        {following ? S.run.following : S.run.notFollowing}
      </button>
      {zoom && (
        <button type="button" className="button" onClick={follow}>
          {S.run.resetZoom} <kbd>0</kbd>
        </button>
      )}
      <label className="field smoothing">
        <span>{S.run.smoothing}</span>
        <input
          type="range"
          min={0}
          max={0.95}
          step={0.05}
          value={smoothing}
          onChange={(event) => setSmoothing(Number(event.target.value))}
        />
        <output className="num">{smoothing.toFixed(2)}</output>
      </label>
    </div>
  );
}
