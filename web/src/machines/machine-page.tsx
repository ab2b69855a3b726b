import { useState } from 'preact/hooks';
import { Empty, Failure, Loading } from '../components/states.tsx';
import { Since } from '../components/time.tsx';
import type { PageProps } from '../routing/page.ts';
import { query, setQuery } from '../routing/location.ts';
import { paths } from '../routing/paths.ts';
import { useLoaded } from '../state/resource.ts';
import { readActors } from './actor-api.ts';
import { livingStates } from './chart-states.ts';
import { ChartView } from './chart-view.tsx';
import { chartOf } from './charts.ts';
import { LINKS_OF_OTHERS } from './links-of-others.ts';
import { StateName } from './state-name.tsx';
import { useCounts } from './use-counts.ts';
import './machines.css';

/** `/machines/:machine`: its chart, and the actors that run it. */
export function MachinePage({ params: { machine = '' } }: PageProps) {
  const chart = chartOf(machine);
  const { counts } = useCounts();
  if (chart === undefined) return <Failure title="Not found" message={`There is no state machine "${machine}".`} />;
  const isCounted = livingStates(chart).some(({ id }) => counts?.has(id) === true);
  return (
    <>
      <div class="page-head">
        <h1>{chart.id}</h1>
        <p>{chart.description}</p>
      </div>
      <div class="stack">
        <section class="card" aria-label="Chart">
          <ChartView chart={chart} label={`The chart of ${chart.id}`} counts={isCounted ? counts : undefined} />
        </section>
        {chart.machine === 'agent-link' ? <Links /> : <Actors machine={chart.machine} />}
        <Transitions machine={chart.machine} />
      </div>
    </>
  );
}

/** Links have no actors in the backend; their other ends are the sessions. */
function Links() {
  return (
    <>
      <p class="muted">{LINKS_OF_OTHERS}</p>
      <Actors machine="connection" title="Sessions of connected links" />
    </>
  );
}

function Actors({ machine, title = 'Actors' }: { machine: string; title?: string }) {
  const [from, setFrom] = useState<string | undefined>(undefined);
  const { state } = useLoaded(`${machine} ${from}`, (signal) => readActors(machine, signal, from), {
    when: ({ kind }) => kind === machine,
  });
  const { data, error } = state.value;
  const wanted = query.value.get('state') ?? '';
  const text = query.value.get('key') ?? '';
  const chart = chartOf(machine);
  const shown = (data?.items ?? []).filter(
    ({ value, key }) => (wanted === '' || value === wanted) && key.includes(text),
  );
  return (
    <section class="card" aria-label={title}>
      <header>
        <h2>{title}</h2>
        <div class="filters">
          <label>
            State{' '}
            <select value={wanted} onChange={(event) => setQuery({ state: event.currentTarget.value })}>
              <option value="">all</option>
              {chart !== undefined &&
                livingStates(chart).map(({ name }) => (
                  <option key={name} value={name}>
                    {name}
                  </option>
                ))}
            </select>
          </label>
          <label>
            Key <input type="search" value={text} onInput={(event) => setQuery({ key: event.currentTarget.value })} />
          </label>
        </div>
      </header>
      {error !== undefined && <Failure title="The actors could not be read" message={error} />}
      {data === undefined && error === undefined && <Loading what="Reading actors" />}
      {data !== undefined && shown.length === 0 && <Empty title="No actor is in this state on this page" />}
      {shown.length > 0 && (
        <ul class="actor-list">
          {shown.map(({ key, value, since }) => (
            <li key={key}>
              <a href={paths.actor(machine, key)}>{key}</a>
              <StateName name={value} />
              <span class="muted">
                <Since at={since} />
              </span>
            </li>
          ))}
        </ul>
      )}
      <div class="pager">
        {from !== undefined && (
          <button type="button" onClick={() => setFrom(undefined)}>
            First page
          </button>
        )}
        {data?.next !== undefined && (
          <button type="button" onClick={() => setFrom(data.next)}>
            Next page
          </button>
        )}
      </div>
    </section>
  );
}

/** Every transition in words, for reading and for screen readers. */
function Transitions({ machine }: { machine: string }) {
  const chart = chartOf(machine);
  if (chart === undefined) return null;
  const nameOf = new Map(chart.states.map(({ id, name }) => [id, name]));
  return (
    <details class="card">
      <summary>All {chart.transitions.length} transitions in words</summary>
      <div class="scrolls" tabIndex={0} role="region" aria-label="Transitions">
        <table>
          <thead>
            <tr>
              <th scope="col">From</th>
              <th scope="col">Event</th>
              <th scope="col">Condition</th>
              <th scope="col">To</th>
              <th scope="col">Meaning</th>
            </tr>
          </thead>
          <tbody>
            {chart.transitions.map(({ id, source, event, guard, isOtherwise, target, description }) => (
              <tr key={id}>
                <td>{nameOf.get(source)}</td>
                <td>
                  <code>{event}</code>
                </td>
                <td>{guard ?? (isOtherwise ? 'otherwise' : '')}</td>
                <td>{target === undefined ? 'stays' : nameOf.get(target)}</td>
                <td>{description}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}
