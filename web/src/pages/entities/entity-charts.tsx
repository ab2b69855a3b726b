import { list, MON } from '../../api/client.ts';
import { LazyChart } from '../../machines/lazy-chart.ts';
import { paths } from '../../routing/paths.ts';
import { useLoaded } from '../../state/resource.ts';

interface ListedActor {
  key: string;
}

interface EntityChartsProps {
  namespace: string;
  name: string;
  isAgent: boolean;
}

/** The live charts of an entity: its keepalives, and the connections of its agent. */
export function EntityCharts({ namespace, name, isAgent }: EntityChartsProps) {
  const key = `${namespace}/${name}`;
  return (
    <>
      <section class="card chart-card" aria-labelledby="entity-chart">
        <header>
          <h2 id="entity-chart">Keepalives</h2>
          <a href={paths.ledger({ key })}>Ledger</a>
        </header>
        <LazyChart machine="entity" actorKey={key} absent="No keepalive is expected of this entity." />
      </section>
      {isAgent && <Connections entity={key} />}
    </>
  );
}

function Connections({ entity }: { entity: string }) {
  const { state } = useLoaded(
    `connections of ${entity}`,
    (signal) => list<ListedActor>(`${MON}/actors`, { signal, query: { machine: 'connection', entity } }),
    // The end of a connection does not name its agent.
    { when: ({ kind, agent = entity }) => kind === 'connection' && agent === entity, atMostEveryMs: 2_000 },
  );
  const { data, error } = state.value;
  return (
    <section class="card chart-card" aria-labelledby="connection-chart">
      <header>
        <h2 id="connection-chart">Connection</h2>
      </header>
      {error !== undefined && <p class="error-text">{error}</p>}
      {data?.items.length === 0 && <p class="muted">The agent is not connected.</p>}
      {data?.items.map(({ key }) => (
        <LazyChart key={key} machine="connection" actorKey={key} absent="The connection has ended." />
      ))}
    </section>
  );
}
