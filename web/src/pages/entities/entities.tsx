import { at, listAll, MON } from '../../api/client.ts';
import { Listing, type Column } from '../../components/listing.tsx';
import { Labels } from '../../components/chips.tsx';
import { SEVERITY, StatusMark, toneOf } from '../../components/status.tsx';
import { Ago } from '../../components/time.tsx';
import { query, setQuery } from '../../routing/location.ts';
import type { PageProps } from '../../routing/page.ts';
import { paths } from '../../routing/paths.ts';
import { useLoaded } from '../../state/resource.ts';

export interface EntityRow {
  namespace: string;
  name: string;
  entity_class: string;
  last_seen: number;
  version: string;
  os: string;
  subscriptions: readonly string[];
  labels: Readonly<Record<string, string>>;
  problems: { count: number; worst: number; keepalive: number } | null;
}

const MAX_ENTITIES = 20_000;
const FIRST_PAGE = 100;
const PAGE = 1_000;
const CHANGED: ReadonlySet<string> = new Set(['entity', 'entities', 'check-state']);

const COLUMNS: readonly Column<EntityRow>[] = [
  {
    head: 'Entity',
    cell: ({ namespace, name, labels }) => (
      <>
        <a href={paths.entity(namespace, name)}>{name}</a> <Labels labels={labels} />
      </>
    ),
    sort: ({ name }) => name,
    width: '30%',
  },
  {
    head: 'State',
    cell: ({ problems }) =>
      problems === null ? <span class="muted">not visible</span> : <StatusMark status={problems.worst} />,
    sort: ({ problems }) => SEVERITY[toneOf(problems?.worst ?? 0)],
    width: '8rem',
  },
  {
    head: 'Problems',
    cell: ({ problems, namespace, name }) =>
      problems === null || problems.count === 0 ? (
        <span class="muted">none</span>
      ) : (
        <a href={`${paths.events(namespace)}?q=${encodeURIComponent(name)}`}>{problems.count}</a>
      ),
    sort: ({ problems }) => problems?.count ?? 0,
    isDescending: true,
  },
  {
    head: 'Class',
    cell: ({ entity_class: kind }) => <span class="muted">{kind}</span>,
    sort: ({ entity_class: kind }) => kind,
  },
  {
    head: 'Last seen',
    cell: ({ last_seen: seen, entity_class: kind }) =>
      kind === 'agent' ? <Ago at={seen} /> : <span class="muted">–</span>,
    sort: ({ last_seen: seen }) => seen,
    isDescending: true,
  },
  {
    head: 'Subscriptions',
    cell: ({ name, subscriptions }) => {
      const text = subscriptions.filter((one) => one !== `entity:${name}`).join(', ');
      return <span title={text}>{text === '' ? <span class="muted">none</span> : text}</span>;
    },
    width: '16%',
  },
  { head: 'System', cell: ({ os }) => <span class="muted">{os}</span>, sort: ({ os }) => os },
  { head: 'Agent', cell: ({ version }) => <span class="muted">{version}</span>, sort: ({ version }) => version },
];

/** Worst first, unless the address says otherwise. */
const byState = (one: EntityRow, other: EntityRow): number =>
  SEVERITY[toneOf(one.problems?.worst ?? 0)] - SEVERITY[toneOf(other.problems?.worst ?? 0)] ||
  (other.problems?.count ?? 0) - (one.problems?.count ?? 0);

export function EntitiesPage({ params: { namespace = '' } }: PageProps) {
  const kind = query.value.get('class') ?? '';
  const loader = useLoaded<readonly EntityRow[]>(
    `entities ${namespace} ${kind}`,
    async (signal, show) => {
      const path = `${MON}${at`/namespaces/${namespace}/entity-summaries`}`;
      const arrange = (rows: readonly EntityRow[]): EntityRow[] =>
        rows.filter(({ entity_class: one }) => kind === '' || one === kind).sort(byState);
      const pages = { max: MAX_ENTITIES, first: FIRST_PAGE, page: PAGE };
      return arrange(
        await listAll<EntityRow>(path, { signal }, { ...pages, show: (rows: EntityRow[]) => show(arrange(rows)) }),
      );
    },
    { when: ({ kind: changed }) => CHANGED.has(changed), atMostEveryMs: 2_000 },
  );
  return (
    <Listing
      title="Entities"
      noun="entities"
      loader={loader}
      columns={COLUMNS}
      keyOf={({ name }) => name}
      textOf={({ name, labels, os, subscriptions, version }) =>
        `${name} ${os} ${version} ${subscriptions.join(' ')} ${Object.entries(labels).join(' ')}`
      }
      controls={
        <label>
          <span>Class</span>
          <select value={kind} onChange={({ currentTarget: { value } }) => setQuery({ class: value })}>
            <option value="">All</option>
            <option value="agent">Agents</option>
            <option value="proxy">Proxies</option>
          </select>
        </label>
      }
    />
  );
}
