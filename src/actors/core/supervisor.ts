import { type AnyActorRef, type AnyEventObject, fromTransition } from 'xstate';

const FAILURE = 'xstate.error.actor.';

export interface SupervisorInput {
  /** Receives each failure of a supervised actor, exactly once and before the call that caused it returns. Must not throw. */
  failed(key: string, cause: unknown): void;
}

/** Stops one actor, which can be woken again from its record. */
export interface EvictEvent {
  type: 'actor.evicted';
  ref: AnyActorRef;
}

/**
 * The parent of the keyed actors of one kind. XState sends it `xstate.error.actor.<key>` synchronously when an action, a guard,
 * the first step or a restore of a child throws; it reports that failure and leaves the other actors alone (one-for-one). It is
 * transition logic and not a machine, because a machine keeps every distinct event type that it has ever received.
 */
export const supervisorLogic = fromTransition(
  (supervision: SupervisorInput, event: AnyEventObject, { stopChild }) => {
    if (event.type === 'actor.evicted') stopChild((event as EvictEvent).ref);
    else if (event.type.startsWith(FAILURE)) supervision.failed(event.type.slice(FAILURE.length), event['error']);
    return supervision;
  },
  ({ input }: { input: SupervisorInput }) => input,
);
