import { CLEAN_PAGE } from '../../contract/clean-calls.js';
import { visibleLine } from '../logic/visible-text.js';
import { useClean } from '../stores/clean.js';
import { useCleanPage } from '../stores/clean-page.js';
import { S } from '../strings.js';
import type { CleanTarget } from './use-clean-target.js';

interface ToolbarProps {
  target: CleanTarget | null;
  onKeep(): void;
  onRedact(): void;
  onAlways(): void;
}

const SHOWN_CHARS = 40;

/** Which records are shown, and what to do about the place or the text that is selected. */
export function CleanToolbar({ target, onKeep, onRedact, onAlways }: ToolbarProps) {
  const { busy, working } = useClean();
  const off = busy || working !== null || target === null;
  // A click must not take the selection away before it is used.
  const hold = (event: React.MouseEvent): void => event.preventDefault();
  return (
    <div className="clean-toolbar" role="toolbar" aria-label={S.clean.finding}>
      <RecordFilter />
      <Pager />
      <div className="clean-actions">
        <span className="clean-target">{target && targetName(target)}</span>
        <button
          type="button"
          className="button"
          title={S.clean.keepHelp}
          disabled={off || !('kind' in target)}
          onMouseDown={hold}
          onClick={onKeep}
        >
          {S.clean.keep} <kbd>k</kbd>
        </button>
        <button type="button" className="button" disabled={off} onMouseDown={hold} onClick={onRedact}>
          {S.clean.redact} <kbd>r</kbd>
        </button>
        <button type="button" className="button" disabled={off} onMouseDown={hold} onClick={onAlways}>
          {S.clean.always} <kbd>a</kbd>
        </button>
      </div>
    </div>
  );
}

function targetName(target: CleanTarget): string {
  if ('kind' in target) return target.placeholder;
  const text = visibleLine(target.text);
  return `“${text.length > SHOWN_CHARS ? `${text.slice(0, SHOWN_CHARS)}…` : text}”`;
}

function RecordFilter() {
  const { filter, setFilter } = useCleanPage();
  const placeholder = useClean(
    (state) => state.ready?.kinds.find(({ kind }) => kind === filter.kind)?.placeholder ?? '',
  );
  const value = filter.kind === undefined ? filter.only : 'kind';
  return (
    <label className="field">
      <span>{S.clean.show}</span>
      <select
        value={value}
        onChange={(event) => void setFilter({ only: event.target.value === 'all' ? 'all' : 'found' })}
      >
        <option value="found">{S.clean.only.found}</option>
        <option value="all">{S.clean.only.all}</option>
        {filter.kind !== undefined && <option value="kind">{S.clean.onlyKind(placeholder)}</option>}
      </select>
    </label>
  );
}

function Pager() {
  const { offset, total, records, turn } = useCleanPage();
  if (total === null) return null;
  const last = offset + records.length;
  return (
    <nav className="clean-pager" aria-label={S.clean.page(offset + 1, last, total)}>
      <button
        type="button"
        className="button"
        aria-label={S.clean.previousPage}
        disabled={offset === 0}
        onClick={() => void turn(Math.max(0, offset - CLEAN_PAGE))}
      >
        ‹
      </button>
      <span className="num">{S.clean.page(offset + 1, last, total)}</span>
      <button
        type="button"
        className="button"
        aria-label={S.clean.nextPage}
        disabled={last >= total}
        onClick={() => void turn(last)}
      >
        ›
      </button>
    </nav>
  );
}
