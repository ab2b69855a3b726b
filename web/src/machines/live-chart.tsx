import { Loading } from '../components/states.tsx';
import { paths } from '../routing/paths.ts';
import { nameOf } from './chart-states.ts';
import { ChartView } from './chart-view.tsx';
import { chartOf } from './charts.ts';
import { Countdown } from './countdown.tsx';
import type { Chart } from './chart.ts';
import { StateName } from './state-name.tsx';
import { useActor } from './use-actor.ts';
import './machines.css';

interface LiveChartProps {
  machine: string;
  actorKey: string;
  /** What is shown while the actor does not exist. */
  absent: string;
}

/** The live chart of one actor as a part of a page, with its state and the time to its deadline. */
export function LiveChart({ machine, actorKey, absent }: LiveChartProps) {
  const chart = chartOf(machine);
  return chart === undefined ? null : <Live chart={chart} actorKey={actorKey} absent={absent} />;
}

function Live({ chart, actorKey: key, absent }: { chart: Chart; actorKey: string; absent: string }) {
  const { detail, error, active, taken } = useActor(chart, key);
  const name = [...active].map(nameOf).findLast((path) => path !== '');
  const deadlineAtMs = detail?.deadline_at_ms ?? null;
  if (detail === undefined && active.size === 0) {
    return error === undefined ? <Loading what="Reading the state" /> : <p class="muted">{absent}</p>;
  }
  return (
    <div class="live-chart" data-live-chart={chart.machine}>
      <p class="live-chart-head">
        <StateName name={name?.split('.').at(-1) ?? null} />
        {deadlineAtMs !== null && (
          <span class="muted">
            deadline in <Countdown atMs={deadlineAtMs} />
          </span>
        )}
        <a href={paths.actor(chart.machine, key)}>Data and ledger</a>
      </p>
      <ChartView chart={chart} label={`${chart.id} of ${key}`} active={active} taken={taken} isCompact />
    </div>
  );
}
