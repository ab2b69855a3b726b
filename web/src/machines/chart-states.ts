import type { Chart, ChartState, ChartTransition } from './chart.ts';

/** A transition, as the ledger and the live feed have it: with the names of top-level states only. */
export interface Step {
  /** Null when there was no actor before. */
  from: string | null;
  event: string;
  /** Null when there is no actor any more. */
  to: string | null;
  /** The guards that were evaluated, in order; absent in the live feed. */
  guards?: readonly { name: string; passed: boolean }[];
}

const NONE: ReadonlySet<string> = new Set();

/** Ids of the states that a value stands for, the outer ones too. The value is that of a snapshot, or the name of a top-level state. */
export function activeStates(chart: Chart, value: unknown): ReadonlySet<string> {
  if (value === null || value === undefined) return NONE;
  const known = new Set(chart.states.map(({ id }) => id));
  const active = new Set([chart.id]);
  const add = (parent: string, part: unknown): void => {
    const names = typeof part === 'string' ? [[part, undefined] as const] : Object.entries(part ?? {});
    for (const [name, inner] of names) {
      const id = `${parent}.${name}`;
      if (!known.has(id)) continue;
      active.add(id);
      if (inner !== undefined) add(id, inner);
    }
  };
  add(chart.id, value);
  return active;
}

/** The names of the states of a value from the outside in, such as `registered, monitored`. */
export function namesOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (value === null || typeof value !== 'object') return [];
  return Object.entries(value).flatMap(([name, inner]) => [name, ...namesOf(inner)]);
}

/**
 * Ids of the transitions that a step may have been. The guard that passed distinguishes candidates; without guards there may be
 * several. A step without a state after it leads to a final state; the creation of an actor is the arrow to its initial state.
 */
export function takenBy(chart: Chart, { from, event, to, guards }: Step): ReadonlySet<string> {
  const finals = new Set(chart.states.filter(({ type }) => type === 'final').map(({ id }) => id));
  const initial = initialOf(chart)?.name;
  if (from === null && to === initial) return new Set([initialArrow(chart.id)]);
  const before = from ?? initial;
  const candidates = chart.transitions.filter(({ event: own, source, target = source }) => {
    const isFrom = source === chart.id || topOf(source) === before;
    return own === event && isFrom && (to === null ? finals.has(target) : topOf(target) === to);
  });
  const passed = new Set(guards?.filter((guard) => guard.passed).map(({ name }) => name));
  const narrowed = candidates.filter(({ guard }) => (guard === undefined ? passed.size === 0 : passed.has(guard)));
  const chosen = guards === undefined || narrowed.length === 0 ? candidates : narrowed;
  return new Set(chosen.map(({ id }) => id));
}

/**
 * Ids of the states that an actor is in after a step: those that its transition leads to, inner ones included, or the top-level state
 * alone where several transitions may have been taken.
 */
export function enteredBy(chart: Chart, step: Step): ReadonlySet<string> {
  const taken = takenBy(chart, step);
  if (taken.has(initialArrow(chart.id))) return settled(chart, chart.id);
  const transitions = chart.transitions.filter(({ id }) => taken.has(id));
  const targets = new Set(transitions.map(({ source, target = source }) => target));
  const [only, ...others] = targets;
  return only === undefined || others.length > 0 ? activeStates(chart, step.to) : settled(chart, only);
}

/** Ids of the states that an actor was in before a step. */
export function leftBy(chart: Chart, step: Step): ReadonlySet<string> {
  if (step.from === null) return NONE;
  const taken = takenBy(chart, step);
  const sources = new Set(chart.transitions.filter(({ id }) => taken.has(id)).map(({ source }) => source));
  const [only, ...others] = sources;
  const isInner = only !== undefined && others.length === 0 && topOf(only) === step.from;
  return isInner ? new Set([...around(chart, only), only]) : activeStates(chart, step.from);
}

/** Whether the actor of a chart can be in a state within another. */
export const hasInnerStates = ({ id: machine, states }: Chart): boolean =>
  states.some(({ parent }) => parent !== undefined && parent !== machine);

/** The states around a state, it and the initial states in it. */
function settled(chart: Chart, state: string): ReadonlySet<string> {
  const ids = new Set([...around(chart, state), state]);
  const byId = new Map(chart.states.map((one) => [one.id, one]));
  for (let inner = byId.get(state)?.initial; inner !== undefined; inner = byId.get(inner)?.initial) ids.add(inner);
  return ids;
}

/** The states around a state, the machine first. */
function around(chart: Chart, id: string): string[] {
  const parent = chart.states.find((one) => one.id === id)?.parent;
  return parent === undefined ? [] : [...around(chart, parent), parent];
}

const topOf = (id: string): string => id.split('.')[1] ?? '';

const initialOf = ({ states: [machine, ...states] }: Chart): ChartState | undefined =>
  states.find(({ id }) => id === machine?.initial);

/** What can happen in the active states, the innermost state first, as the machine looks for it. */
export function nextFrom({ states, transitions }: Chart, active: ReadonlySet<string>): ChartTransition[] {
  const inner = states.filter(({ id }) => active.has(id)).toReversed();
  if (inner.some(({ type }) => type === 'final')) return [];
  return inner.flatMap(({ id }) => transitions.filter(({ source }) => source === id));
}

/** The id of the arrow from the dot to the initial state of a compound state. */
export const initialArrow = (state: string): string => `${state}#initial`;

/** The name of a state, by its id. */
export const nameOf = (id: string): string => id.split('.').slice(1).join('.');

/** The ids of the top-level states that an actor can stay in: those without an end. */
export const livingStates = ({ id: machine, states }: Chart): ChartState[] =>
  states.filter(({ parent, type }) => parent === machine && type !== 'final');
