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
 * Returns the definition of a machine: states, transitions, descriptions, and the names of guards, actions and delays with their
 * constant parameters. It omits what only code can express: the initial context, and parameters that depend on it.
 */
export const definitionOf = (machine: AnyStateMachine): MachineDefinition =>
  // JSON.stringify omits functions.
  JSON.parse(JSON.stringify({ ...machine.config, options: undefined })) as MachineDefinition;
