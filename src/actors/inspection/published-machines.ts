import type { AnyStateMachine } from 'xstate';
import { agentLinkMachine } from '../../machines/agent-link.ts';
import { CHECK_STATE_CHART } from '../../rules/check-state-chart.ts';
import { SILENCE_CHART } from '../../rules/silence-chart.ts';
import { MACHINES } from '../core/machines.ts';
import { definitionOf, type MachineDefinition } from './definition.ts';

export interface PublishedMachine {
  /** The kind name in the ledger and in session ids. */
  machine: string;
  /** The types of the events that it handles, sorted, without its own delays. */
  events: string[];
  definition: MachineDefinition;
}

const published = (machine: string, definition: MachineDefinition): PublishedMachine => ({
  machine,
  events: [...eventsIn(definition)].toSorted(),
  definition,
});

/** All state machines of the backend and the agent, and the states that plain functions decide. They depend on the version only. */
export const PUBLISHED_MACHINES: readonly PublishedMachine[] = [
  ...Object.entries<AnyStateMachine>(MACHINES).map(([kind, machine]) => published(kind, definitionOf(machine))),
  published('agent-link', definitionOf(agentLinkMachine)),
  published('check-state', CHECK_STATE_CHART),
  published('silence', SILENCE_CHART),
];

type StateNode = Partial<Pick<MachineDefinition, 'on' | 'states'>>;

function eventsIn({ on = {}, states = {} }: StateNode): Set<string> {
  const nested = Object.values(states).flatMap((state) => [...eventsIn(state as StateNode)]);
  return new Set([...Object.keys(on), ...nested]);
}
