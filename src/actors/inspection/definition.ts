import type { AnyStateMachine, AnyStateNode } from 'xstate';

/** The JSON text of a machine's definition, functions replaced by their names. */
export const definitionOf = (machine: AnyStateMachine): string =>
  JSON.stringify(machine.config, (_key, value: unknown) =>
    typeof value === 'function' ? { type: value.name } : value,
  );

/** A machine as people may draw it. */
export interface DescribedMachine {
  machine: string;
  id: string;
  version: string | null;
  initial: string | null;
  /** What it may be sent. */
  events: string[];
  states: DescribedState[];
}

interface DescribedState {
  name: string;
  isFinal: boolean;
  description: string | null;
  entry: string[];
  transitions: DescribedTransition[];
}

interface DescribedTransition {
  event: string;
  guard: string | null;
  /** Null where the state is not left. */
  target: string | null;
  actions: string[];
}

/** `machine` is its word in the ledger. Keyed machines are flat: every state is a child of the root. */
export function describeMachine(machine: string, { id, version, root, events }: AnyStateMachine): DescribedMachine {
  const initial = root.initial.target[0]?.key ?? null;
  const states = Object.values(root.states).map(describeState);
  return { machine, id, version: version ?? null, initial, events: (events as string[]).toSorted(), states };
}

function describeState(state: AnyStateNode): DescribedState {
  const transitions = [...state.transitions.values()].flat().map(({ eventType, guard, target, actions }) => ({
    event: String(eventType),
    guard: guard === undefined ? null : nameOf(guard),
    target: target?.[0]?.key ?? null,
    actions: actions.map(nameOf),
  }));
  const { key, type, description, entry } = state;
  return {
    name: key,
    isFinal: type === 'final',
    description: description ?? null,
    entry: entry.map(nameOf),
    transitions,
  };
}

/** Of an action or guard, which is a name, a name with parameters, or a function. */
function nameOf(implementation: unknown): string {
  if (typeof implementation === 'string') return implementation;
  if (typeof implementation === 'function') return implementation.name;
  return String((implementation as { type: unknown }).type);
}
