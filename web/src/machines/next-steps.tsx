import type { Chart, ChartTransition } from './chart.ts';
import { nextFrom } from './chart-states.ts';
import { Countdown } from './countdown.tsx';
import { StateName } from './state-name.tsx';

const DEADLINE = 'deadline.reached';

interface NextStepsProps {
  chart: Chart;
  active: ReadonlySet<string>;
  deadlineAtMs: number | null;
}

/** What can happen in the current state, by event, in the order in which the machine tries it. */
export function NextSteps({ chart, active, deadlineAtMs }: NextStepsProps) {
  const steps = nextFrom(chart, active);
  if (steps.length === 0) return <p class="muted">Nothing: this is a final state.</p>;
  const events = [...new Set(steps.map(({ event }) => event))];
  return (
    <dl class="next-steps">
      {events.map((event) => (
        <div key={event}>
          <dt>
            <code>{event}</code>
            {event === DEADLINE && deadlineAtMs !== null && (
              <span class="muted">
                {' '}
                in <Countdown atMs={deadlineAtMs} />
              </span>
            )}
          </dt>
          {steps
            .filter((transition) => transition.event === event)
            .map((transition) => (
              <dd key={transition.id}>
                <Step transition={transition} />
              </dd>
            ))}
        </div>
      ))}
    </dl>
  );
}

function Step({ transition: { guard, isOtherwise, target, description } }: { transition: ChartTransition }) {
  const condition = guard ?? (isOtherwise ? 'otherwise' : undefined);
  return (
    <>
      {condition !== undefined && <code class="guard">[{condition}]</code>}
      {target === undefined ? <span class="muted">stays</span> : <StateName name={target.split('.').at(-1) ?? ''} />}
      <span class="meaning">{description}</span>
    </>
  );
}
