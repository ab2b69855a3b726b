import type { AnyStateMachine } from 'xstate';

/** The configuration of a machine as JSON, which `createMachine` of XState accepts. */
export interface MachineDefinition {
  readonly id: string;
  readonly version: string;
  readonly description: string;
  readonly initial: string;
  readonly on?: Readonly<Record<string, unknown>>;
  readonly states: Readonly<Record<string, unknown>>;
}

/**
 * The definition of a machine: states, transitions, descriptions, and guards, actions and delays by name, with their parameters
 * where these are constant. What only code can say is left out: the initial context, and parameters that depend on it.
 */
export const definitionOf = (machine: AnyStateMachine): MachineDefinition =>
  // JSON leaves functions out.
  JSON.parse(JSON.stringify({ ...machine.config, options: undefined })) as MachineDefinition;
