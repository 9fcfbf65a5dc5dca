import { Harness } from '../../contract/records.js';
import { useGuardLog } from '../stores/guard-log.js';
import { S } from '../strings.js';
import { Choice } from './choice.js';

const KINDS = ['block', 'suspicious'] as const;

export function GuardFilters() {
  const { filter, rules, setFilter } = useGuardLog();
  const found = new Map(rules.map((one) => [one.rule, one.found]));
  // A rule that was chosen stays to be seen, even when it finds nothing any more.
  const names = [...new Set([...found.keys(), ...(filter.rule === undefined ? [] : [filter.rule])])];
  return (
    <search className="filters" aria-label={S.guard.filters}>
      <Choice
        label={S.guard.verdict}
        value={filter.verdict}
        options={KINDS}
        name={(kind) => S.guard.kinds[kind]}
        onChange={(verdict) => void setFilter({ verdict })}
      />
      <Choice
        label={S.guard.rule}
        value={filter.rule}
        options={names}
        name={(rule) => S.guard.ruleWithCount(rule, found.get(rule) ?? 0)}
        onChange={(rule) => void setFilter({ rule })}
      />
      <Choice
        label={S.guard.harness}
        value={filter.harness}
        options={Harness.options}
        name={(harness) => S.harness[harness]}
        onChange={(harness) => void setFilter({ harness })}
      />
      <label className="field">
        <input
          type="checkbox"
          checked={filter.rollouts ?? false}
          onChange={(event) => void setFilter({ rollouts: event.target.checked })}
        />
        <span>{S.guard.rollouts}</span>
      </label>
    </search>
  );
}
