import type { Event } from '../resources/event.ts';

/** Name lists that are resolved: the event's own, and those of sets in it and in them. */
const MAX_LEVELS = 3;

/** What the selection needs of a handler. */
interface Selectable {
  type: string | undefined;
  handlers: string[] | null;
}

/** A name that leads to no handler, and why. */
export interface Unselected {
  name: string;
  reason: 'handler does not exist' | 'handler sets cannot be deeply nested';
}

/** The handlers that an event names, sets replaced by their members: each once, in the order of names. */
export function selectHandlers<H extends Selectable>(
  names: readonly string[],
  lookUp: (name: string) => H | undefined,
): { selected: [name: string, handler: H][]; unselected: Unselected[] } {
  const selected = new Map<string, H>();
  const unselected: Unselected[] = [];
  const resolve = (members: readonly string[], level: number): void => {
    for (const name of members) {
      const handler = lookUp(name);
      if (handler === undefined) unselected.push({ name, reason: 'handler does not exist' });
      else if (handler.type !== 'set') selected.set(name, handler);
      else if (level >= MAX_LEVELS) unselected.push({ name, reason: 'handler sets cannot be deeply nested' });
      else resolve(handler.handlers ?? [], level + 1);
    }
  };
  resolve(names, 1);
  return { selected: [...selected].sort(([a], [b]) => (a < b ? -1 : 1)), unselected };
}

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
