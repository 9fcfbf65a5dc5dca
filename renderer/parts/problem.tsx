import type { ErrorShape } from '../../contract/errors.js';
import { S } from '../strings.js';

/** An error in place of what could not be read. */
export function Problem({ error, onRetry }: { error: ErrorShape; onRetry?: () => void }) {
  return (
    <div className="problem" role="alert">
      <p>
        {error.message} <code>{error.code}</code>
      </p>
      {error.hint && <p className="muted">{error.hint}</p>}
      {onRetry && (
        <button type="button" className="button" onClick={onRetry}>
          {S.retry}
        </button>
      )}
    </div>
  );
}
