import type { Chart } from './chart.ts';
import { livingStates } from './chart-states.ts';
import { ChartParts } from './chart-svg.tsx';
import { CHARTS } from './charts.ts';
import { LINKS_OF_OTHERS } from './links-of-others.ts';
import { machinePaths } from './machine-paths.ts';
import { StateName } from './state-name.tsx';
import { type Counts, useCounts } from './use-counts.ts';
import './machines.css';

/** Small charts are not drawn larger than this. */
const MAX_SCALE = 1.15;

/** `/machines`: every state machine as a chart, with the number of actors in each state. */
export function GalleryPage() {
  const { counts, error } = useCounts();
  return (
    <>
      <div class="page-head">
        <h1>Machines</h1>
        <p>The state machines of this installation as statecharts, with the live number of actors in each state.</p>
        <div class="actions">
          <a class="button" href={machinePaths.inspect([])}>
            Inspector
          </a>
        </div>
      </div>
      {error !== undefined && <p class="note">The numbers of actors are not shown: {error}</p>}
      <ul class="machine-gallery">
        {CHARTS.map((chart) => (
          <MachineCard key={chart.id} chart={chart} counts={counts} />
        ))}
      </ul>
    </>
  );
}

function MachineCard({ chart, counts }: { chart: Chart; counts: Counts | undefined }) {
  const { id, machine, version, description } = chart;
  const { small } = chart.layouts;
  const living = livingStates(chart).filter((state) => counts?.has(state.id) === true);
  const isCounted = living.length > 0;
  const total = living.reduce((sum, state) => sum + (counts?.get(state.id) ?? 0), 0);
  return (
    <li class="card machine-card">
      <header>
        <h2>
          <a href={machinePaths.machine(machine)}>{id}</a>
        </h2>
        <span class="muted">
          version {version}
          {isCounted ? `, ${total.toLocaleString('en')} ${total === 1 ? 'actor' : 'actors'}` : ''}
        </span>
      </header>
      <p>{description}</p>
      <svg
        class="machine-picture"
        style={{ maxWidth: `${small.width * MAX_SCALE}px` }}
        viewBox={`0 0 ${small.width} ${small.height}`}
        role="img"
        aria-label={`The chart of ${id}, without its numbers`}
      >
        <ChartParts chart={chart} layout={small} counts={isCounted ? counts : undefined} />
      </svg>
      {isCounted && (
        <ul class="state-counts">
          {living.map(({ id: state, name }) => (
            <li key={state} data-count-of={state}>
              <StateName name={name} />
              <strong>{(counts?.get(state) ?? 0).toLocaleString('en')}</strong>
            </li>
          ))}
        </ul>
      )}
      {machine === 'agent-link' && <p class="muted">{LINKS_OF_OTHERS}</p>}
    </li>
  );
}
