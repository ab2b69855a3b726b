import { Failure, Loading } from '../components/states.tsx';
import type { PageProps } from '../routing/page.ts';
import { navigate } from '../routing/location.ts';
import { paths } from '../routing/paths.ts';
import type { Chart } from './chart.ts';
import { nameOf } from './chart-states.ts';
import { ChartView } from './chart-view.tsx';
import { chartOf } from './charts.ts';
import { Countdown } from './countdown.tsx';
import { machinePaths } from './machine-paths.ts';
import { NextSteps } from './next-steps.tsx';
import { relatedActors } from './related-actors.ts';
import type { LedgerEntry } from './replay.ts';
import { StateName } from './state-name.tsx';
import { clockTime } from './clock-time.ts';
import { Timeline } from './timeline.tsx';
import { useActor } from './use-actor.ts';
import './machines.css';

/** The time around an entry that a replay shows, s. */
const BEFORE_S = 60;
const AFTER_S = 600;

/** `/machines/:machine/actors/:key`: one actor, live. */
export function ActorPage({ params: { machine = '', key = '' } }: PageProps) {
  const chart = chartOf(machine);
  if (chart === undefined) return <Failure title="Not found" message={`There is no state machine "${machine}".`} />;
  return <Actor chart={chart} actorKey={key} />;
}

function Actor({ chart, actorKey: key }: { chart: Chart; actorKey: string }) {
  const { detail, error, entries, entriesError, active, taken } = useActor(chart, key);
  const sessionId = `${chart.machine}:${key}`;
  const names =
    [...active]
      .map(nameOf)
      .findLast((path) => path !== '')
      ?.split('.') ?? [];
  const name = names.at(-1) ?? null;
  const outer = names.slice(0, -1).join(' › ');
  const deadlineAtMs = detail?.deadline_at_ms ?? null;
  const replay = (entry: LedgerEntry): void => {
    const atS = Math.floor(entry.atMs / 1_000);
    const around = { since: atS - BEFORE_S, until: atS + AFTER_S, seq: entry.seq };
    navigate(machinePaths.replay(relatedActors(chart.machine, key), around));
  };
  return (
    <>
      <div class="page-head">
        <h1>
          <a href={machinePaths.machine(chart.machine)}>{chart.id}</a> <span class="actor-key">{key}</span>
        </h1>
        <div class="actions">
          {entries?.[0] !== undefined && (
            <button type="button" onClick={() => entries[0] !== undefined && replay(entries[0])}>
              Replay the last change
            </button>
          )}
          <a class="button" href={machinePaths.inspect([sessionId])}>
            Inspect
          </a>
        </div>
      </div>
      {error !== undefined && <Failure title="The actor could not be read" message={error} />}
      <dl class="actor-facts card">
        <div>
          <dt>State</dt>
          <dd aria-live="polite" data-current={name ?? ''}>
            {outer !== '' && <span class="state-around">{outer} › </span>}
            {name === null ? <span class="muted">unknown</span> : <StateName name={name} />}
          </dd>
        </div>
        <div>
          <dt>Since</dt>
          <dd>{detail?.since_ms ? clockTime(detail.since_ms) : <span class="muted">unknown</span>}</dd>
        </div>
        <div>
          <dt>Deadline</dt>
          <dd>
            <Countdown atMs={deadlineAtMs} />
          </dd>
        </div>
        <Related machine={chart.machine} actorKey={key} />
      </dl>
      <div class="stack">
        <section class="card" aria-label="Chart">
          <ChartView chart={chart} label={`${chart.id} of ${key}`} active={active} taken={taken} />
        </section>
        <div class="columns">
          <section class="card">
            <header>
              <h2>What can happen next</h2>
            </header>
            <NextSteps chart={chart} active={active} deadlineAtMs={deadlineAtMs} />
          </section>
          <div class="stack">
            <section class="card">
              <header>
                <h2>Ledger</h2>
                <a href={paths.ledger({ actor: chart.machine, key })}>all entries</a>
              </header>
              {entriesError !== undefined && <Failure title="The ledger could not be read" message={entriesError} />}
              {entries !== undefined && entries.length === 0 && <p class="muted">No entry.</p>}
              {entries !== undefined && <Timeline entries={entries} onSelect={replay} selectText="Replay" />}
            </section>
            <section class="card">
              <header>
                <h2>Data</h2>
                <span class="muted">secrets are redacted</span>
              </header>
              {detail === undefined ? <Loading /> : <Context context={detail.context} />}
            </section>
          </div>
        </div>
      </div>
    </>
  );
}

function Related({ machine, actorKey }: { machine: string; actorKey: string }) {
  const others = relatedActors(machine, actorKey).filter((id) => id !== `${machine}:${actorKey}`);
  if (others.length === 0) return null;
  return (
    <div>
      <dt>Related</dt>
      <dd class="chips">
        {others.map((id) => {
          const colon = id.indexOf(':');
          return (
            <a class="chip" key={id} href={paths.actor(id.slice(0, colon), id.slice(colon + 1))}>
              {id.slice(0, colon)}
            </a>
          );
        })}
      </dd>
    </div>
  );
}

/** Times in the data of actors end in `AtMs`, lengths of time in `Ms`. */
function Context({ context }: { context: Record<string, unknown> }) {
  return (
    <dl class="context">
      {Object.entries(context).map(([name, value]) => (
        <div key={name}>
          <dt>
            <code>{name}</code>
          </dt>
          <dd>
            <code>{JSON.stringify(value)}</code> <span class="muted">{meaningOf(name, value)}</span>
          </dd>
        </div>
      ))}
    </dl>
  );
}

function meaningOf(name: string, value: unknown): string {
  if (typeof value !== 'number' || value === 0) return '';
  if (name.endsWith('AtMs')) return clockTime(value);
  return name.endsWith('Ms') ? `${(value / 1_000).toLocaleString('en')} s` : '';
}
