import { findPlace } from '../logic/clean.js';
import { formatCount } from '../logic/format.js';
import { visibleText } from '../logic/visible-text.js';
import { useCleanPage } from '../stores/clean-page.js';
import { S } from '../strings.js';
import { Panel } from './panel.js';
import type { CleanTarget } from './use-clean-target.js';

/** What is known of the place that is looked at; what stands around it as the copy has it. */
export function CleanFindingPanel({ target }: { target: CleanTarget | null }) {
  const { records, kinds, selected } = useCleanPage();
  if (target && 'text' in target)
    return (
      <Panel title={S.clean.selection}>
        <pre className="clean-context">{visibleText(target.text)}</pre>
      </Panel>
    );
  const found = findPlace(records, kinds, selected);
  if (!found?.kind)
    return (
      <Panel title={S.clean.finding}>
        <p className="muted">{S.clean.noFinding}</p>
      </Panel>
    );
  const { kind, record, path, before, standIn, after } = found;
  const facts: [string, string][] = [
    [S.clean.kind, kind.family],
    [S.clean.certainty, S.clean.certainties[kind.certainty] ?? kind.certainty],
    [S.clean.standIn, kind.placeholder],
    [S.clean.times, formatCount(kind.count)],
    [S.clean.where, `${S.clean.record(record.record)}: ${visibleText(path)}`],
  ];
  return (
    <Panel title={S.clean.finding}>
      <dl className="clean-facts">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <h3 className="clean-small">{S.clean.around}</h3>
      <pre className="clean-context">
        {visibleText(before)}
        <mark>{standIn}</mark>
        {visibleText(after)}
      </pre>
    </Panel>
  );
}
