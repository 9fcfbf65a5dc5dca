import { useEffect, useRef, useState } from 'react';
import { VerdictFilter } from '../../contract/clean-calls.js';
import { Harness, Origin } from '../../contract/records.js';
import { useSessionList } from '../stores/session-list.js';
import { S } from '../strings.js';
import { useAction } from './actions.js';
import { Choice } from './choice.js';
import { SearchIcon } from './icons.js';

const TYPING_MS = 200;

export function SessionFilters() {
  const { filter, setFilter } = useSessionList();
  const [text, setText] = useState(filter.search ?? '');
  const input = useRef<HTMLInputElement>(null);
  useAction('search', () => input.current?.focus());
  useEffect(() => {
    if (text === (filter.search ?? '')) return;
    const timer = setTimeout(() => setFilter({ search: text || undefined }), TYPING_MS);
    return () => clearTimeout(timer);
  }, [text, filter.search, setFilter]);
  return (
    <search className="filters">
      <span className="search">
        <SearchIcon size={14} />
        <input
          ref={input}
          type="search"
          value={text}
          aria-label={S.sessions.searchLabel}
          placeholder={S.sessions.search}
          maxLength={200}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={(event) => event.key === 'Escape' && event.currentTarget.blur()}
        />
      </span>
      <Choice
        label={S.sessions.harness}
        value={filter.harness}
        options={Harness.options}
        name={(h) => S.harness[h]}
        onChange={(harness) => setFilter({ harness })}
      />
      <Choice
        label={S.sessions.origin}
        value={filter.origin}
        options={Origin.options}
        name={(o) => S.origin[o]}
        onChange={(origin) => setFilter({ origin })}
      />
      <Choice
        label={S.clean.title}
        value={filter.clean}
        options={VerdictFilter.options}
        name={(verdict) => S.clean.filterNames[verdict]}
        onChange={(clean) => setFilter({ clean })}
      />
      <label className="field">
        <input
          type="checkbox"
          checked={filter.blockedOnly ?? false}
          onChange={(event) => setFilter({ blockedOnly: event.target.checked || undefined })}
        />
        <span>{S.sessions.blockedOnly}</span>
      </label>
    </search>
  );
}
