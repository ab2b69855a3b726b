import { useEffect, useReducer, useState } from 'preact/hooks';
import { searchOf } from '../api/client.ts';
import { Empty } from '../components/states.tsx';
import { activeStates, namesOf } from '../machines/chart-states.ts';
import { ChartView } from '../machines/chart-view.tsx';
import { chartOf } from '../machines/charts.ts';
import { StateName } from '../machines/state-name.tsx';
import { navigate, query } from '../routing/location.ts';
import { ActorPicker } from './actor-picker.tsx';
import { connectInspector, INSPECT_PATH } from './inspect-socket.ts';
import { MessageLog } from './message-log.tsx';
import {
  type Inspected,
  type InspectedActor,
  type InspectMessage,
  lastTaken,
  NOTHING,
  withMessage,
} from './messages.ts';
import '../machines/machines.css';
import './inspect.css';

type Action = InspectMessage | 'reset';

const reduce = (known: Inspected, action: Action): Inspected =>
  action === 'reset' ? NOTHING : withMessage(known, action);

/** `/inspect?actor=…`: the messages of the inspector's WebSocket, drawn without the hosted inspector. */
export function InspectPage() {
  const actors = query.value.getAll('actor');
  const since = query.value.get('since') ?? undefined;
  const [known, dispatch] = useReducer(reduce, NOTHING);
  const [problem, setProblem] = useState<string | undefined>(undefined);
  useEffect(() => {
    dispatch('reset');
    setProblem(undefined);
    if (actors.length === 0) return undefined;
    return connectInspector(actors, since, { message: dispatch, problem: setProblem });
  }, [actors.join(' '), since]);
  const count = actors.length === 0 ? 'No actor is watched.' : `${known.received} messages`;
  return (
    <>
      <div class="page-head">
        <h1>Inspector</h1>
        <p>Every committed event and snapshot of some actors. Nothing leaves this host.</p>
        {actors.length > 0 && (
          <div class="actions">
            <a class="button" href={INSPECT_PATH + searchOf({ actor: actors })} data-external>
              Hosted inspector …
            </a>
          </div>
        )}
      </div>
      <div class="stack">
        <section class="card" aria-label="Watched actors">
          <ActorPicker actors={actors} onChange={(actor) => navigate(`/inspect${searchOf({ actor, since })}`)} />
          <p class={problem === undefined ? 'muted' : 'error-text'} role="status">
            {problem ?? count}
          </p>
        </section>
        {actors.length === 0 && (
          <Empty title="Choose an actor">
            <p>For example the entity of an agent. The page of each actor has a link to here.</p>
          </Empty>
        )}
        {[...known.actors.values()].map((actor) => (
          <Watched key={actor.sessionId} actor={actor} />
        ))}
        {known.log.length > 0 && <MessageLog log={known.log} />}
      </div>
    </>
  );
}

function Watched({ actor }: { actor: InspectedActor }) {
  const { sessionId, machine, definition, value, status, context } = actor;
  const chart = chartOf(machine);
  const isDrawable = chart !== undefined && definition?.version === chart.version;
  const names = namesOf(value);
  return (
    <section class="card" data-session={sessionId} data-value={names.join('.')} aria-label={sessionId}>
      <header>
        <h2>{sessionId}</h2>
        <span>
          {names.slice(0, -1).map((name) => `${name} › `)}
          <StateName name={names.at(-1) ?? null} />
          {status === 'done' && <span class="muted"> (ended)</span>}
        </span>
      </header>
      {isDrawable ? (
        <ChartView
          chart={chart}
          label={`${chart.id} of ${sessionId}`}
          active={activeStates(chart, value)}
          taken={lastTaken(chart, actor)}
        />
      ) : (
        <p class="muted">
          This page has no chart of this version of the machine. Its states:{' '}
          {Object.keys(definition?.states ?? {}).join(', ')}.
        </p>
      )}
      <details>
        <summary>Context</summary>
        <pre class="json">{JSON.stringify(context, null, 2)}</pre>
      </details>
    </section>
  );
}
