import { useEffect, useMemo, useState } from 'preact/hooks';
import { Empty, Failure, Loading } from '../components/states.tsx';
import { query, setQuery } from '../routing/location.ts';
import { paths } from '../routing/paths.ts';
import { useLoaded } from '../state/resource.ts';
import { readEntries } from './actor-api.ts';
import { enteredBy, hasInnerStates, leftBy, nameOf, takenBy } from './chart-states.ts';
import { ChartView } from './chart-view.tsx';
import { chartOf } from './charts.ts';
import { addressOf, Replay, type ReplayedActor } from './replay.ts';
import { StateName } from './state-name.tsx';
import { clockTime } from './clock-time.ts';
import { Timeline } from './timeline.tsx';
import './machines.css';

const SPEEDS = [1, 10, 60, 600];
const DEFAULT_SPEED = 60;
/** Pages of the ledger that are read of each actor at first. */
const FIRST_PAGES = 2;
const NO_STATES: ReadonlySet<string> = new Set();

/** `/machines/replay?actor=…&since=…&until=…`: the past of some actors, played from the ledger. */
export function ReplayPage() {
  const ids = query.value.getAll('actor');
  const addresses = useMemo(
    () => ids.map(addressOf).filter(({ machine }) => chartOf(machine) !== undefined),
    [ids.join(' ')],
  );
  const sinceS = Number(query.value.get('since') ?? 0);
  const untilS = Number(query.value.get('until') ?? Math.ceil(Date.now() / 1_000));
  const wanted = `${ids.join(' ')} ${sinceS} ${untilS}`;
  const [asked, setAsked] = useState({ wanted, pages: FIRST_PAGES });
  const pages = asked.wanted === wanted ? asked.pages : FIRST_PAGES;
  const time = { sinceS, untilS, pages };
  const loader = useLoaded(`${wanted} ${pages}`, (signal) => readEntries(addresses, time, signal));
  const { data: read, error, isLoading } = loader.state.value;
  const [shown, setShown] = useState({ wanted, read });
  useEffect(() => {
    if (read !== undefined) setShown({ wanted, read });
  }, [read]);
  // What was read before stays visible while more is read.
  const data = read ?? (shown.wanted === wanted ? shown.read : undefined);
  const replay = useMemo(() => new Replay(data?.entries ?? [], addresses), [data, addresses]);
  return (
    <>
      <div class="page-head">
        <h1>Replay</h1>
        <p>
          {clockTime(sinceS * 1_000)} to {clockTime(untilS * 1_000)}, from the ledger
        </p>
      </div>
      {error !== undefined && <Failure title="The ledger could not be read" message={error} retry={loader.reload} />}
      {data === undefined && error === undefined && <Loading what="Reading the ledger" />}
      {data?.untilS !== undefined && (
        <p class="muted" role="status" data-read-until={data.untilS}>
          Only the first {replay.steps.toLocaleString()} entries are read
          {data.untilS > 0 ? `, up to ${clockTime(data.untilS * 1_000)}` : ''}.{' '}
          <button
            type="button"
            class="button-plain"
            disabled={isLoading}
            onClick={() => setAsked({ wanted, pages: pages * 2 })}
          >
            {isLoading ? 'Reading …' : 'Read more'}
          </button>
        </p>
      )}
      {data !== undefined && data.untilS === undefined && replay.steps === 0 && (
        <Empty title="Nothing changed in this time">
          <p>Choose another entry of the ledger, or a longer time.</p>
        </Empty>
      )}
      {data !== undefined && replay.steps > 0 && <Player replay={replay} key={replay.entries[0]?.seq} />}
    </>
  );
}

function Player({ replay }: { replay: Replay }) {
  const wanted = Number(query.value.get('seq') ?? 0);
  const begin = replay.entries.findIndex(({ seq }) => seq === wanted) + 1;
  const [step, setStep] = useState(begin);
  const [isPlaying, setPlaying] = useState(false);
  const [speed, setSpeed] = useState(DEFAULT_SPEED);
  const show = (next: number): void => {
    const shown = Math.min(replay.steps, Math.max(0, next));
    setStep(shown);
    const entry = replay.entryAt(shown);
    setQuery({ seq: entry === undefined ? undefined : String(entry.seq) });
  };
  useEffect(() => {
    if (!isPlaying) return undefined;
    if (step >= replay.steps) {
      setPlaying(false);
      return undefined;
    }
    const timer = setTimeout(() => show(step + 1), replay.waitMsAfter(step, speed));
    return () => clearTimeout(timer);
  }, [isPlaying, step, speed]);
  const play = (): void => {
    if (!isPlaying && step >= replay.steps) show(0);
    setPlaying(!isPlaying);
  };
  const entry = replay.entryAt(step);
  const atMs = replay.timeMsAt(step) ?? 0;
  return (
    <div class="stack">
      <section class="card player" aria-label="Player">
        <div class="player-buttons">
          <button type="button" class="button-primary" onClick={play}>
            {isPlaying ? 'Pause' : 'Play'}
          </button>
          <button type="button" onClick={() => show(step - 1)} disabled={step === 0} aria-label="Step back">
            ‹
          </button>
          <button
            type="button"
            onClick={() => show(step + 1)}
            disabled={step >= replay.steps}
            aria-label="Step forward"
          >
            ›
          </button>
          <label>
            Speed{' '}
            <select value={speed} onChange={(event) => setSpeed(Number(event.currentTarget.value))}>
              {SPEEDS.map((times) => (
                <option key={times} value={times}>
                  {times} ×
                </option>
              ))}
            </select>
          </label>
          <output class="player-time" aria-live="polite">
            {step === 0 ? 'before ' : ''}
            {clockTime(atMs)}
          </output>
        </div>
        <Marks replay={replay} />
        <input
          class="slider"
          type="range"
          min={0}
          max={replay.steps}
          value={step}
          aria-label="Step of the replay"
          aria-valuetext={
            entry === undefined ? 'before the first change' : `${entry.actor} ${entry.event}, ${clockTime(atMs)}`
          }
          onInput={(event) => {
            setPlaying(false);
            show(Number(event.currentTarget.value));
          }}
        />
      </section>
      <div class="columns">
        {replay.at(step).map((actor) => (
          <ReplayedChart
            key={`${actor.machine}:${actor.key}`}
            actor={actor}
            isLast={entry !== undefined && actor.last === entry}
          />
        ))}
      </div>
      <section class="card">
        <header>
          <h2>Entries</h2>
        </header>
        <Timeline
          entries={replay.entries}
          selected={entry?.seq}
          withActor
          onSelect={(chosen) => {
            setPlaying(false);
            show(replay.entries.indexOf(chosen) + 1);
          }}
        />
      </section>
    </div>
  );
}

/** Ticks above the slider, one for each entry, in the colour of the state that it led to. */
function Marks({ replay }: { replay: Replay }) {
  return (
    <div class="player-marks" aria-hidden="true">
      {replay.entries.slice(0, 400).map(({ seq, to }, index) => (
        <span key={seq} style={{ left: `${((index + 1) / replay.steps) * 100}%` }}>
          <StateName name={to} />
        </span>
      ))}
    </div>
  );
}

function ReplayedChart({ actor, isLast }: { actor: ReplayedActor; isLast: boolean }) {
  const { machine, key, value, last, next } = actor;
  const chart = chartOf(machine);
  if (chart === undefined) return null;
  const active = last !== undefined ? enteredBy(chart, last) : next !== undefined ? leftBy(chart, next) : NO_STATES;
  const outer = typeof value === 'string' && value !== '' ? value : undefined;
  const path = [...active].map(nameOf).findLast((one) => one.includes('.'));
  const inner = outer !== undefined && path?.startsWith(`${outer}.`) === true ? path.split('.').at(-1) : undefined;
  const taken = last === undefined || !isLast ? undefined : takenBy(chart, last);
  return (
    <section class="card" data-actor={`${machine}:${key}`} aria-label={`${machine} ${key}`}>
      <header>
        <h2>
          <a href={paths.actor(machine, key)}>
            {machine} {key}
          </a>
        </h2>
        {value === undefined ? (
          <span class="muted">did not change in this time</span>
        ) : (
          <span data-state-at-step={inner ?? value ?? ''}>
            {inner !== undefined && <span class="state-around">{outer} › </span>}
            <StateName name={inner ?? value} />
          </span>
        )}
      </header>
      <ChartView chart={chart} isCompact label={`${machine} of ${key} at this step`} active={active} taken={taken} />
      {hasInnerStates(chart) && (
        <p class="muted">
          Changes between nested states have no ledger entries; the chart shows the nested state after the last entry.
        </p>
      )}
    </section>
  );
}
