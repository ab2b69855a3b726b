import type { Event } from '../resources/event.ts';

/** The properties of an event that the built-in filters read. */
export interface FilterInput {
  /** Undefined without a check. */
  status: number | undefined;
  /** The status of the previous result; undefined for the first one. */
  previousStatus: number | undefined;
  silenced: readonly string[];
  hasMetrics: boolean;
}

export function filterInputOf({ check, metrics }: Event): FilterInput {
  return {
    status: check?.status,
    previousStatus: check?.history?.at(-2)?.status,
    silenced: check?.silenced ?? [],
    hasMetrics: metrics !== undefined,
  };
}

/** Whether the event reports a problem or its resolution. */
export const isIncident = ({ status = 0, previousStatus = 0 }: FilterInput): boolean =>
  status !== 0 || previousStatus !== 0;

/** The silences that a reason names; the others are counted. */
const MAX_NAMED_SILENCES = 5;

/** Each returns why it denies the event, or undefined when the event passes. */
const BUILT_IN_FILTERS: Record<string, (input: FilterInput) => string | undefined> = {
  is_incident: (input) => (isIncident(input) ? undefined : 'not an incident'),
  not_silenced: ({ silenced }) => (silenced.length === 0 ? undefined : `silenced by ${named(silenced)}`),
  has_metrics: ({ hasMetrics }) => (hasMetrics ? undefined : 'no metrics'),
};

function named(silenced: readonly string[]): string {
  const names = silenced.slice(0, MAX_NAMED_SILENCES).join(', ');
  const others = silenced.length - MAX_NAMED_SILENCES;
  return others > 0 ? `${names} and ${others} more` : names;
}

/** Whether the name belongs to a built-in filter. A stored filter of that name is never consulted. */
export const isBuiltInFilter = (name: string): boolean => Object.hasOwn(BUILT_IN_FILTERS, name);

/** Why a built-in filter denies the event; undefined when it passes, or when no built-in filter has this name. */
export const denialBy = (name: string, input: FilterInput): string | undefined =>
  isBuiltInFilter(name) ? BUILT_IN_FILTERS[name]?.(input) : undefined;
