import type { Event } from '../resources/event.ts';

/** Name lists that are resolved: the event's own, and those of sets in it and in them. */
const MAX_LEVELS = 3;
/** Handlers and sets that one event may lead to, each counted once. */
const MAX_NAMES = 1_000;
/** Names that are read for one event, each as often as it stands somewhere. */
const MAX_READ = 10_000;

export const TOO_MANY_NAMES = `an event leads to at most ${MAX_NAMES} handlers and sets: this one and those after it are left out`;

/** What the selection needs of a handler. */
interface Selectable {
  type: string | undefined;
  handlers: string[] | null;
}

/** A name that leads to no handler, and why. */
export interface Unselected {
  name: string;
  reason: 'handler does not exist' | 'handler sets cannot be deeply nested' | typeof TOO_MANY_NAMES;
}

export interface Selection<H> {
  selected: [name: string, handler: H][];
  unselected: Unselected[];
}

/**
 * The handlers that an event names, sets replaced by their members: each once, in the order of names. Level by level, so that each
 * name is looked at once, where it stands highest.
 */
export function selectHandlers<H extends Selectable>(
  names: readonly string[],
  lookUp: (name: string) => H | undefined,
): Selection<H> {
  const seen = new Set<string>();
  const selected: [name: string, handler: H][] = [];
  const unselected: Unselected[] = [];
  let lists: (readonly string[])[] = [names];
  let read = 0;
  for (let level = 1; level <= MAX_LEVELS; level += 1) {
    const below: string[][] = [];
    for (const list of lists) {
      for (const name of list) {
        read += 1;
        if (seen.has(name) && read <= MAX_READ) continue;
        if (seen.size === MAX_NAMES || read > MAX_READ) {
          unselected.push({ name, reason: TOO_MANY_NAMES });
          return { selected: inOrder(selected), unselected };
        }
        seen.add(name);
        const handler = lookUp(name);
        if (handler === undefined) unselected.push({ name, reason: 'handler does not exist' });
        else if (handler.type !== 'set') selected.push([name, handler]);
        else if (level === MAX_LEVELS) unselected.push({ name, reason: 'handler sets cannot be deeply nested' });
        else below.push(handler.handlers ?? []);
      }
    }
    lists = below;
  }
  return { selected: inOrder(selected), unselected };
}

const inOrder = <H>(selected: [name: string, handler: H][]): [name: string, handler: H][] =>
  selected.sort(([a], [b]) => (a < b ? -1 : 1));

/** What the built-in filters look at. */
export interface FilterFacts {
  /** Undefined without a check. */
  status: number | undefined;
  /** Of the result before; undefined for the first. */
  previousStatus: number | undefined;
  silenced: readonly string[];
  hasMetrics: boolean;
}

export function factsOf({ check, metrics }: Event): FilterFacts {
  return {
    status: check?.status,
    previousStatus: check?.history?.at(-2)?.status,
    silenced: check?.silenced ?? [],
    hasMetrics: metrics !== undefined,
  };
}

const BUILT_IN_FILTERS: Record<string, (facts: FilterFacts) => boolean> = {
  /** A problem, or its end. */
  is_incident: ({ status = 0, previousStatus = 0 }) => status !== 0 || previousStatus !== 0,
  not_silenced: ({ silenced }) => silenced.length === 0,
  has_metrics: ({ hasMetrics }) => hasMetrics,
};

export type FilterVerdict =
  { passes: true } | { passes: false; filter: string; reason: 'denied' | 'filter does not exist' };

/** The first filter that denies ends it; one that does not exist denies. Filters are asked in their order. */
export function passesFilters(filters: readonly string[], facts: FilterFacts): FilterVerdict {
  for (const filter of filters) {
    const test = Object.hasOwn(BUILT_IN_FILTERS, filter) ? BUILT_IN_FILTERS[filter] : undefined;
    if (test === undefined) return { passes: false, filter, reason: 'filter does not exist' };
    if (!test(facts)) return { passes: false, filter, reason: 'denied' };
  }
  return { passes: true };
}
