/**
 * The state of a check as a statechart, for clients that draw it. `mergeCheckState` decides it; a test compares both. The
 * guards: `flaps` is a total state change at or above the high threshold, `stillFlaps` one above the low threshold, both with
 * thresholds above 0; `isOk` is status 0.
 */
export const CHECK_STATE_CHART = {
  id: 'check-state',
  version: '1',
  description: 'The state of a check on an entity, from its results.',
  initial: 'absent',
  states: {
    absent: {
      description: 'No result is stored.',
      on: {
        'result.received': [
          { description: 'The result came with a history that flaps.', guard: 'flaps', target: 'flapping' },
          { description: 'The first result has status 0.', guard: 'isOk', target: 'passing' },
          { description: 'The first result has another status.', target: 'failing' },
        ],
      },
    },
    passing: {
      description: 'The last result has status 0.',
      on: {
        'result.received': [
          { description: 'The state changed too often.', guard: 'flaps', target: 'flapping' },
          { description: 'The result has status 0.', guard: 'isOk', target: 'passing' },
          { description: 'The result has another status.', target: 'failing' },
        ],
        'event.deleted': { description: 'The event was deleted.', target: 'deleted' },
        'entity.deleted': { description: 'The entity was deleted.', target: 'deleted' },
        'entity.deregistered': { description: 'The agent left and its entity with it.', target: 'deleted' },
      },
    },
    failing: {
      description: 'The last result has a status other than 0.',
      on: {
        'result.received': [
          { description: 'The state changed too often.', guard: 'flaps', target: 'flapping' },
          { description: 'The result has status 0.', guard: 'isOk', target: 'passing' },
          { description: 'The result has another status.', target: 'failing' },
        ],
        'event.deleted': { description: 'The event was deleted.', target: 'deleted' },
        'entity.deleted': { description: 'The entity was deleted.', target: 'deleted' },
        'entity.deregistered': { description: 'The agent left and its entity with it.', target: 'deleted' },
      },
    },
    flapping: {
      description: 'The state changed often, and has not become calm since.',
      on: {
        'result.received': [
          { description: 'The state still changes too often.', guard: 'stillFlaps', target: 'flapping' },
          { description: 'Calm, and the result has status 0.', guard: 'isOk', target: 'passing' },
          { description: 'Calm, and the result has another status.', target: 'failing' },
        ],
        'event.deleted': { description: 'The event was deleted.', target: 'deleted' },
        'entity.deleted': { description: 'The entity was deleted.', target: 'deleted' },
        'entity.deregistered': { description: 'The agent left and its entity with it.', target: 'deleted' },
      },
    },
    deleted: { type: 'final', description: 'The event is gone.' },
  },
} as const;
