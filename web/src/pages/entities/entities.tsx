import { useMemo, useState } from 'preact/hooks';
import { at, CORE, listAll, MON } from '../../api/client.ts';
import { Listing, type Column } from '../../components/listing.tsx';
import { Labels } from '../../components/chips.tsx';
import { SEVERITY, StatusMark, toneOf } from '../../components/status.tsx';
import { Ago, duration, exactTime } from '../../components/time.tsx';
import { withLabel } from '../../routing/label-query.ts';
import { query, setQuery } from '../../routing/location.ts';
import type { PageProps } from '../../routing/page.ts';
import { paths } from '../../routing/paths.ts';
import { nowMs } from '../../state/now.ts';
import { useLoaded } from '../../state/resource.ts';
import { deleteLater } from '../../state/undo.ts';
import { SilenceDialog } from '../silences/silence-dialog.tsx';

export interface EntityRow {
  namespace: string;
  name: string;
  entity_class: string;
  last_seen: number;
  deadline_at_ms: number | null;
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

/** The path of an entity in the API. */
export const entityPath = (namespace: string, name: string): string =>
  `${CORE}${at`/namespaces/${namespace}/entities/${name}`}`;

/** Deletes an entity, unless the user undoes it. */
export function deleteEntity({ namespace, name }: Pick<EntityRow, 'namespace' | 'name'>, undone?: () => void): void {
  const text = `Deleted ${name} with its events and silences`;
  deleteLater([entityPath(namespace, name)], undone === undefined ? { text } : { text, undone });
}

const columnsOf = (silence: (row: EntityRow) => void): readonly Column<EntityRow>[] => [
  {
    head: 'Entity',
    cell: ({ namespace, name, labels }) => (
      <>
        <a href={paths.entity(namespace, name)} title={name}>
          {name}
        </a>
        <Labels labels={labels} hrefOf={withLabel} />
      </>
    ),
    sort: ({ name }) => name,
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
    width: '5rem',
  },
  {
    head: 'Last seen',
    cell: ({ last_seen: seen, entity_class: kind }) =>
      kind === 'agent' ? <Ago at={seen} /> : <span class="muted">{kind}</span>,
    sort: ({ last_seen: seen }) => seen,
    isDescending: true,
    width: '7rem',
  },
  {
    head: 'Alert in',
    cell: ({ deadline_at_ms: deadline }) => <Left atMs={deadline} />,
    sort: ({ deadline_at_ms: deadline }) => deadline ?? Infinity,
    width: '7rem',
  },
  {
    head: 'Subscriptions',
    cell: ({ name, subscriptions }) => {
      const text = subscriptions.filter((one) => one !== `entity:${name}`).join(', ');
      return <span title={text}>{text === '' ? <span class="muted">none</span> : text}</span>;
    },
    width: '13%',
  },
  {
    head: 'System',
    cell: ({ os, version }) => <span class="muted">{[os, version].filter(Boolean).join(' · ') || '–'}</span>,
    sort: ({ os, version }) => `${os} ${version}`,
    width: '11%',
  },
  {
    head: 'Actions',
    cell: (row) => (
      <span class="row-actions">
        <button type="button" aria-label={`Silence ${row.name}`} onClick={() => silence(row)}>
          Silence
        </button>
        <button type="button" class="button-danger" aria-label={`Delete ${row.name}`} onClick={() => deleteEntity(row)}>
          Delete
        </button>
      </span>
    ),
    width: '10.5rem',
  },
];

/** The time until the silence of an agent changes its state. */
function Left({ atMs }: { atMs: number | null }) {
  if (atMs === null) return <span class="muted">–</span>;
  return (
    <time dateTime={new Date(atMs).toISOString()} title={exactTime(atMs / 1_000)}>
      {duration(Math.max(0, (atMs - nowMs.value) / 1_000))}
    </time>
  );
}

/** Worst first, unless the address says otherwise. */
const byState = (one: EntityRow, other: EntityRow): number =>
  SEVERITY[toneOf(one.problems?.worst ?? 0)] - SEVERITY[toneOf(other.problems?.worst ?? 0)] ||
  (other.problems?.count ?? 0) - (one.problems?.count ?? 0);

export function EntitiesPage({ params: { namespace = '' } }: PageProps) {
  const [silencing, setSilencing] = useState<string | undefined>(undefined);
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
  const columns = useMemo(() => columnsOf(({ name }) => setSilencing(name)), []);
  return (
    <>
      <Listing
        title="Entities"
        noun="entities"
        loader={loader}
        columns={columns}
        pathOf={({ name }) => entityPath(namespace, name)}
        hrefOf={({ name }) => paths.entity(namespace, name)}
        labelsOf={({ labels }) => labels}
        keys={{ s: ({ name }) => setSilencing(name), '#': (row) => deleteEntity(row) }}
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
      {silencing !== undefined && (
        <SilenceDialog
          namespace={namespace}
          events={[{ entity: silencing, check: 'keepalive' }]}
          extent="entity"
          onClose={() => setSilencing(undefined)}
        />
      )}
    </>
  );
}
