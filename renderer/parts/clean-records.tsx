import { useEffect, useRef } from 'react';
import { useClean } from '../stores/clean.js';
import { useCleanPage } from '../stores/clean-page.js';
import { S } from '../strings.js';
import { CleanRecordView } from './clean-record.js';
import { Empty } from './empty.js';
import { Problem } from './problem.js';

/** One page of records, both sides. A click on a mark selects its place. */
export function CleanRecords() {
  const { id, records, total, selected, filter, error, load, select } = useCleanPage();
  const list = useRef<HTMLElement>(null);
  const places = useClean((state) => state.ready?.summary.places);
  useEffect(() => {
    const element = list.current;
    const onClick = (event: MouseEvent): void => {
      const mark = (event.target as Element).closest?.('[data-place]');
      if (mark) select(Number(mark.getAttribute('data-place')));
    };
    element?.addEventListener('click', onClick);
    return () => element?.removeEventListener('click', onClick);
  }, [select]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another page has its marks elsewhere
  useEffect(() => {
    if (selected === null || !document.getSelection()?.isCollapsed) return;
    list.current?.querySelector(`mark[data-place="${selected}"]`)?.scrollIntoView({ block: 'nearest' });
  }, [selected, records]);
  return (
    <section ref={list} className="clean-records" aria-label={S.clean.copy}>
      {error && <Problem error={error} onRetry={() => id !== null && void load(id)} />}
      {total === 0 && !error && (
        <Empty title={S.clean.noneTitle}>
          <p>{places === 0 && filter.kind === undefined ? S.clean.noneText : S.clean.page(0, 0, 0)}</p>
        </Empty>
      )}
      {records.length > 0 && (
        <div className="clean-sides clean-heads" aria-hidden="true">
          <span>{S.clean.original}</span>
          <span>{S.clean.copy}</span>
        </div>
      )}
      <ol>
        {records.map((record) => (
          <CleanRecordView key={record.record} record={record} />
        ))}
      </ol>
    </section>
  );
}
