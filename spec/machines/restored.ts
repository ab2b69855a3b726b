import { type AnyStateMachine, createActor, type SnapshotFrom } from 'xstate';

/** What an actor is once it has been restored from its record, of which the state and the context are stored. */
export function restored<M extends AnyStateMachine>(machine: M, value: unknown, context: object): SnapshotFrom<M> {
  const snapshot = {
    status: 'active' as const,
    output: undefined,
    error: undefined,
    value,
    context: { ...context },
    historyValue: {},
    children: {},
  };
  const unprovided: AnyStateMachine = machine;
  return createActor(unprovided, { snapshot }).getSnapshot() as SnapshotFrom<M>;
}
