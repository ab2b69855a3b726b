import { at, get, MON } from '../../api/client.ts';
import { type Column, Listing } from '../../components/listing.tsx';
import { Empty } from '../../components/states.tsx';
import type { PageProps } from '../../routing/page.ts';
import { paths } from '../../routing/paths.ts';
import { useLoaded } from '../../state/resource.ts';
import { AggregateHistory } from './aggregate-history.tsx';
import type { AggregateSample } from './history-areas.ts';

interface Aggregate {
  name: string;
  clients: number;
  checks: number;
  results: { ok: number; warning: number; critical: number; unknown: number; total: number; stale: number };
  /** Of the last hour, one a minute, the oldest first. */
  history: readonly AggregateSample[];
  members: readonly { check: string; entities: readonly string[] }[];
}

const PARTS = ['critical', 'warning', 'unknown', 'ok'] as const;

/** The shares of the severities, with their numbers. */
function Shares({ results }: { results: Aggregate['results'] }) {
  const words = PARTS.filter((part) => results[part] > 0).map((part) => `${results[part]} ${part}`);
  return (
    <span class="shares" role="img" aria-label={words.join(', ')} title={words.join(', ')}>
      {PARTS.map((part) => (
        <i key={part} class={`share-${part}`} style={{ flexGrow: results[part] }} />
      ))}
    </span>
  );
}

export function AggregatesPage({ params: { namespace = '' } }: PageProps) {
  const loader = useLoaded(
    `aggregates ${namespace}`,
    (signal) => get<Aggregate[]>(`${MON}${at`/namespaces/${namespace}/aggregates`}`, { signal }),
    { when: ({ kind }) => kind === 'check-state', everyMs: 5_000 },
  );
  const columns: readonly Column<Aggregate>[] = [
    {
      head: 'Aggregate',
      cell: ({ name, members }) => (
        <a
          href={`${paths.events(namespace)}?status=all&q=${encodeURIComponent(members.length === 1 ? (members[0]?.check ?? '') : '')}`}
        >
          {name}
        </a>
      ),
      sort: ({ name }) => name,
      width: '20%',
    },
    { head: 'Results', cell: ({ results }) => <Shares results={results} />, width: '18%' },
    { head: 'Last hour', cell: ({ history }) => <AggregateHistory samples={history} />, width: '14%' },
    {
      head: 'Critical',
      cell: ({ results }) => results.critical,
      sort: ({ results }) => results.critical,
      isDescending: true,
    },
    {
      head: 'Warning',
      cell: ({ results }) => results.warning,
      sort: ({ results }) => results.warning,
      isDescending: true,
    },
    { head: 'OK', cell: ({ results }) => results.ok, sort: ({ results }) => results.ok, isDescending: true },
    { head: 'Entities', cell: ({ clients }) => clients, sort: ({ clients }) => clients, isDescending: true },
    { head: 'Checks', cell: ({ members }) => members.map(({ check }) => check).join(', '), width: '16%' },
  ];
  return (
    <Listing
      title="Aggregates"
      noun="aggregates"
      loader={loader}
      columns={columns}
      keyOf={({ name }) => name}
      textOf={({ name, members }) => `${name} ${members.map(({ check }) => check).join(' ')}`}
      empty={
        <Empty title="No aggregates">
          <p>
            A check joins one by its annotation <code>mon.io/aggregates</code>.
          </p>
        </Empty>
      }
    />
  );
}
