import { type AnyActorRef, type AnyEventObject, fromTransition } from 'xstate';

const FAILURE = 'xstate.error.actor.';

export interface SupervisorInput {
  /** A supervised actor stopped with an error and will not run again. */
  failed(key: string, error: unknown): void;
}

/** Puts one actor to rest; its key may be woken again. */
export interface EvictEvent {
  type: 'actor.rested';
  ref: AnyActorRef;
}

/**
 * The parent of the keyed actors of one kind, one-for-one: a failure is reported and touches nobody else. It is transition
 * logic and not a machine, because a machine remembers every distinct event type it has ever seen.
 */
export const supervisorLogic = fromTransition(
  (supervision: SupervisorInput, event: AnyEventObject, { stopChild }) => {
    if (event.type === 'actor.rested') stopChild((event as EvictEvent).ref);
    else if (event.type.startsWith(FAILURE)) supervision.failed(event.type.slice(FAILURE.length), event['error']);
    return supervision;
  },
  ({ input }: { input: SupervisorInput }) => input,
);
