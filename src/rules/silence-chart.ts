/**
 * A silence as a statechart, for clients that draw it. `stateAt` and `isOver` decide it; a test compares both. The guard
 * `hasBegun`: the time `begin` has come.
 */
export const SILENCE_CHART = {
  id: 'silence',
  version: '1',
  description: 'A silence, from its creation to its end.',
  initial: 'pending',
  states: {
    pending: {
      description: 'Its start lies in the future: it acts on no event. A silence without one is active at once.',
      on: {
        'silence.created': { description: 'It begins at once.', guard: 'hasBegun', target: 'active' },
        'silence.updated': [
          { description: 'Its start was moved into the past.', guard: 'hasBegun', target: 'active' },
          { description: 'Its start still lies in the future.', target: 'pending' },
        ],
        'begin.reached': { description: 'Its start has come.', target: 'active' },
        'expiry.reached': { description: 'Its last second has passed.', target: 'expired' },
        'silence.deleted': { description: 'A user deleted it.', target: 'deleted' },
        'entity.deleted': { description: 'The entity that it silences was deleted.', target: 'deleted' },
        'entity.deregistered': { description: 'The entity that it silences was deregistered.', target: 'deleted' },
      },
    },
    active: {
      description: 'It acts on events.',
      on: {
        'silence.updated': [
          { description: 'It still acts.', guard: 'hasBegun', target: 'active' },
          { description: 'Its start was moved into the future.', target: 'pending' },
        ],
        'expiry.reached': { description: 'Its last second has passed.', target: 'expired' },
        'check.resolved': { description: 'It expires on resolve, and a check was resolved.', target: 'expired' },
        'silence.deleted': { description: 'A user deleted it.', target: 'deleted' },
        'entity.deleted': { description: 'The entity that it silences was deleted.', target: 'deleted' },
        'entity.deregistered': { description: 'The entity that it silences was deregistered.', target: 'deleted' },
      },
    },
    expired: { type: 'final', description: 'Its time is over, or the problem is.' },
    deleted: { type: 'final', description: 'It was deleted before its time was over.' },
  },
} as const;
