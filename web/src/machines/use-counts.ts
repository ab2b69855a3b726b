import { useEffect, useMemo, useState } from 'preact/hooks';
import { type Change, listen } from '../live/feed.ts';
import { useLoaded } from '../state/resource.ts';
import { readCounts, type StateCounts } from './actor-api.ts';
import { chartOf } from './charts.ts';
import { livingStates } from './chart-states.ts';

/** The counts are read again after this time, because changes while they are read may be in them or not. */
const READ_EVERY_MS = 15_000;

/** The number of actors by the id of their top-level state, kept up to date by the live feed. */
export type Counts = ReadonlyMap<string, number>;

export interface CountsState {
  counts: Counts | undefined;
  error: string | undefined;
}

export function useCounts(): CountsState {
  const loader = useLoaded('counts', readCounts, { everyMs: READ_EVERY_MS });
  const { data, error } = loader.state.value;
  const read = useMemo(() => (data === undefined ? undefined : countsOf(data)), [data]);
  const [changed, setChanged] = useState<Counts>(new Map());
  useEffect(() => {
    setChanged(new Map());
    return listen({ changed: (changes) => setChanged((counts) => changes.reduce(withChange, counts)) });
  }, [read]);
  return { counts: read && withLinks(sumOf(read, changed)), error };
}

function countsOf(list: readonly StateCounts[]): Counts {
  const counts = new Map<string, number>();
  for (const { machine, states } of list) {
    const chart = chartOf(machine);
    if (chart === undefined) continue;
    for (const { id, name } of livingStates(chart)) counts.set(id, states[name] ?? 0);
  }
  return counts;
}

/** The states of a session in which the link of its agent is connected: the backend has not begun to close it. */
const CONNECTED_SESSIONS = ['agent-connection.registered', 'agent-connection.warning'];
const CONNECTED_LINK = 'agent-link.connected';

/**
 * Adds the links that are connected. Links run in the agents: the backend knows only the connected ones, by their
 * sessions.
 */
function withLinks(counts: Counts): Counts {
  if (!CONNECTED_SESSIONS.some((id) => counts.has(id))) return counts;
  const connected = CONNECTED_SESSIONS.reduce((sum, id) => sum + (counts.get(id) ?? 0), 0);
  return new Map([...counts, [CONNECTED_LINK, connected]]);
}

function withChange(counts: Counts, { kind, from, to }: Change): Counts {
  const chart = from === to ? undefined : chartOf(kind);
  if (chart === undefined) return counts;
  const next = new Map(counts);
  const add = (state: unknown, by: number): void => {
    const id = `${chart.id}.${String(state)}`;
    if (typeof state === 'string') next.set(id, (next.get(id) ?? 0) + by);
  };
  add(from, -1);
  add(to, 1);
  return next;
}

const sumOf = (read: Counts, changed: Counts): Counts =>
  new Map([...read].map(([id, count]) => [id, Math.max(0, count + (changed.get(id) ?? 0))]));
