import { useMemo } from 'preact/hooks';
import { ActiveLabels } from '../../components/chips.tsx';
import { SavedSearches } from '../../components/saved-searches.tsx';
import { SearchField } from '../../components/search-field.tsx';
import { setQuery, url, navigate } from '../../routing/location.ts';
import type { EventFilter } from './event-filter.ts';
import type { EventList } from './event-list.ts';

const STATUS_LABELS = [
  ['problems', 'Problems'],
  ['critical', 'Critical'],
  ['warning', 'Warning'],
  ['unknown', 'Unknown'],
  ['passing', 'Passing'],
  ['all', 'All'],
] as const;

const SORT_LABELS = [
  ['severity', 'Worst first'],
  ['since', 'Newest problem first'],
  ['-since', 'Oldest problem first'],
  ['last', 'Latest result first'],
  ['entity', 'Entity'],
  ['check', 'Check'],
] as const;

/** Closes or opens all groups. Those that the user toggles afterwards are exceptions. */
function foldAll(isFolded: boolean): void {
  setQuery({ fold: isFolded ? 'all' : '', closed: '' });
}

/** The names of labels in the list, for grouping. */
function labelNames(list: EventList): string[] {
  const names = new Set<string>();
  for (const { labels } of list.rows.values()) for (const name of Object.keys(labels)) names.add(name);
  return [...names].sort().slice(0, 50);
}

export function EventToolbar({ filter, list }: { filter: EventFilter; list: EventList }) {
  const labels = useMemo(() => labelNames(list), [list, list.rows.size]);
  const group = filter.group.startsWith('label:') ? [...new Set([...labels, filter.group.slice(6)])] : labels;
  return (
    <div class="toolbar" role="search">
      <SearchField label="Search events" value={filter.text} />
      <SavedSearches />
      <label>
        <span>Status</span>
        <select
          value={filter.status}
          onChange={({ currentTarget: { value } }) => setQuery({ status: value === 'problems' ? '' : value })}
        >
          {STATUS_LABELS.map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      </label>
      <label>
        <span>Silenced</span>
        <select
          value={filter.silenced}
          onChange={({ currentTarget: { value } }) => setQuery({ silenced: value === 'any' ? '' : value })}
        >
          <option value="any">Shown</option>
          <option value="no">Hidden</option>
          <option value="only">Only these</option>
        </select>
      </label>
      <label>
        <span>Group by</span>
        <select
          value={filter.group}
          onChange={({ currentTarget: { value } }) => {
            const next = new URL(url.value);
            next.searchParams.delete('closed');
            next.searchParams.delete('fold');
            if (value === '') next.searchParams.delete('group');
            else next.searchParams.set('group', value);
            navigate(next.href, { replace: true });
          }}
        >
          <option value="">Nothing</option>
          <option value="entity">Entity</option>
          <option value="check">Check</option>
          {group.map((name) => (
            <option key={name} value={`label:${name}`}>
              {name}
            </option>
          ))}
        </select>
      </label>
      {filter.group !== '' && (
        <button type="button" onClick={() => foldAll(!filter.isFolded)}>
          {filter.isFolded ? 'Expand all' : 'Collapse all'}
        </button>
      )}
      <label>
        <span>Sort</span>
        <select
          value={`${filter.isReversed ? '-' : ''}${filter.sort}`}
          onChange={({ currentTarget: { value } }) => setQuery({ sort: value === 'severity' ? '' : value })}
        >
          {SORT_LABELS.map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      </label>
      <ActiveLabels labels={filter.labels} />
    </div>
  );
}
