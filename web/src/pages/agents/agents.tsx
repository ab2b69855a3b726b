import { at, get, listAll, MON } from '../../api/client.ts';
import { type Column, Listing } from '../../components/listing.tsx';
import { Ago, duration, Since } from '../../components/time.tsx';
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
    cell: ({ id, state, problems }) => (
      <a href={paths.actor('connection', id)} class={problems.length > 0 ? 'tone-warning' : ''}>
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
          columns={COLUMNS}
          keyOf={({ id }) => id}
          textOf={({ agent, state, address, user, problems }) =>
            `${agent} ${state} ${address} ${user} ${problems.join(' ')}`
          }
        />
      </div>
      <Refusals />
    </div>
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
