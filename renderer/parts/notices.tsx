import { useNotices } from '../stores/notices.js';
import { S } from '../strings.js';

/** Messages in the corner; read out by screen readers as they come. */
export function Notices() {
  const { notices, dismiss } = useNotices();
  return (
    <div className="notices" aria-live="polite">
      {notices.map((notice) => (
        <div key={notice.id} className={`notice notice-${notice.tone}`}>
          <div>
            <p>
              {notice.text} {notice.code && <code>{notice.code}</code>}
            </p>
            {notice.hint && <p className="muted">{notice.hint}</p>}
          </div>
          <button type="button" className="button button-quiet" onClick={() => dismiss(notice.id)}>
            {S.close}
          </button>
        </div>
      ))}
    </div>
  );
}
