import { type AnyStateMachine, createActor, type SnapshotFrom } from 'xstate';

/** Restores an actor from its stored state and context. */
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
