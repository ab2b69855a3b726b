import { useRef } from 'preact/hooks';
import { at, get, listAll, MON } from '../../api/client.ts';
import { type Column, Listing } from '../../components/listing.tsx';
import { Ago, duration, Since } from '../../components/time.tsx';
import { LazyChart } from '../../machines/lazy-chart.ts';
import { query, withQuery } from '../../routing/location.ts';
import type { PageProps } from '../../routing/page.ts';
import { paths } from '../../routing/paths.ts';
import { useLoaded } from '../../state/resource.ts';

interface Session {
  id: string;
  namespace: string;
  agent: string;
  address: string;
  user: string;
  encoding: string;
  opened_at: number;
  state: string;
  silent_ms: number;
  last_keepalive_at: number | null;
  clock_skew_seconds: number | null;
  queue: { id: string; acknowledged: number } | null;
  dropped_requests: number;
  refused: number;
  problems: readonly string[];
}

interface Refusal {
  address: string;
  namespace: string;
  agent: string;
  status: number;
  reason: string;
  first_at: number;
  last_at: number;
  count: number;
}

const SKEW_S = 30;

const COLUMNS: readonly Column<Session>[] = [
  {
    head: 'Agent',
    cell: ({ namespace, agent }) => <a href={paths.entity(namespace, agent)}>{agent}</a>,
    sort: ({ agent }) => agent,
    width: '18%',
  },
  {
    head: 'State',
    cell: ({ id, agent, state, problems }) => (
      <a
        href={withQuery({ connection: id })}
        class={problems.length > 0 ? 'tone-warning' : ''}
        aria-label={`${state}: show the chart of ${agent}`}
      >
        {state}
      </a>
    ),
    sort: ({ state }) => state,
    width: '9rem',
  },
  { head: 'Connected', cell: (one) => <Since at={one.opened_at} />, sort: (one) => one.opened_at, width: '8rem' },
  {
    head: 'Keepalive',
    cell: (one) => <Ago at={one.last_keepalive_at} />,
    sort: (one) => one.last_keepalive_at ?? 0,
    width: '8rem',
    isDescending: true,
  },
  {
    head: 'Clock',
    cell: ({ clock_skew_seconds: skew }) =>
      skew === null ? (
        '–'
      ) : (
        <span class={Math.abs(skew) > SKEW_S ? 'tone-warning' : 'muted'}>
          {Math.abs(skew) <= 1 ? 'in step' : `${duration(skew)} ${skew > 0 ? 'ahead' : 'behind'}`}
        </span>
      ),
    sort: ({ clock_skew_seconds: skew }) => Math.abs(skew ?? 0),
    width: '8rem',
    isDescending: true,
  },
  { head: 'Address', cell: ({ address, user }) => <span class="muted">{`${user}@${address}`}</span>, width: '13rem' },
  {
    head: 'Problems',
    cell: ({ problems }) => (problems.length === 0 ? <span class="muted">none</span> : problems.join(' · ')),
    sort: ({ problems }) => problems.length,
    isDescending: true,
  },
];

export function AgentsPage({ params: { namespace = '' } }: PageProps) {
  const loader = useLoaded(
    `sessions ${namespace}`,
    (signal) => listAll<Session>(`${MON}${at`/namespaces/${namespace}/sessions`}`, { signal }, { max: 20_000 }),
    { when: ({ kind }) => kind === 'connection', everyMs: 10_000 },
  );
  return (
    <div class="stack">
      <div>
        <Listing
          title="Agents"
          noun="connections"
          loader={loader}
          lead={<ConnectionChart sessions={loader.state.value.data} />}
          columns={COLUMNS}
          keyOf={({ id }) => id}
          hrefOf={({ agent }) => paths.entity(namespace, agent)}
          textOf={({ agent, state, address, user, problems }) =>
            `${agent} ${state} ${address} ${user} ${problems.join(' ')}`
          }
        />
      </div>
      <Refusals />
    </div>
  );
}

/** The live chart of one connection: the one in the address, or the first one. It stays when the connection ends. */
function ConnectionChart({ sessions }: { sessions: readonly Session[] | undefined }) {
  const asked = query.value.get('connection') ?? undefined;
  const shown = useRef<Pick<Session, 'id' | 'namespace' | 'agent'> | undefined>(undefined);
  const found = sessions?.find(({ id }) => id === asked);
  if (found !== undefined) shown.current = found;
  else if (asked === undefined) shown.current ??= sessions?.[0];
  const current = shown.current;
  if (current === undefined) return null;
  const { id, namespace, agent } = current;
  return (
    <section class="card chart-card lead" aria-labelledby="connection-chart">
      <header>
        <h2 id="connection-chart">
          Connection of <a href={paths.entity(namespace, agent)}>{agent}</a>
        </h2>
        {(sessions ?? []).length > 1 && <span class="muted">A state in the list shows the chart of its agent.</span>}
      </header>
      <LazyChart key={id} machine="connection" actorKey={id} absent="The connection has ended." />
    </section>
  );
}

function Refusals() {
  const { state } = useLoaded('refusals', (signal) => get<Refusal[]>(`${MON}/handshake-refusals`, { signal }), {
    everyMs: 10_000,
  });
  const { data, error } = state.value;
  return (
    <section class="card" aria-labelledby="refusals">
      <header>
        <h2 id="refusals">Refused connections</h2>
      </header>
      {error !== undefined && <p class="error-text">{error}</p>}
      {data?.length === 0 && <p class="muted">No agent was refused.</p>}
      <ul class="plain-list">
        {(data ?? []).slice(0, 50).map(({ address, namespace, agent, status, reason, last_at: last, count }) => (
          <li key={`${address} ${agent} ${status} ${reason}`}>
            <strong>{agent === '' ? address : agent}</strong>
            <span class="muted">
              {namespace} · {address}
            </span>
            <span>
              {status}: {reason}
              {count > 1 && ` (${count} times)`}
            </span>
            <span class="muted">
              <Ago at={last} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
