import { assign, setup } from 'xstate';
import { type KeepaliveTimeouts, nextTickMs } from '../rules/keepalive-ticks.ts';
import { notProvided } from './not-provided.ts';

export interface EntityContext extends KeepaliveTimeouts {
  /** `<namespace>/<name>` */
  key: string;
  intervalMs: number;
  /** Receipt of the last keepalive, Unix ms; 0 before the first. */
  lastReceivedAtMs: number;
  /** The next alert, in ms after the last keepalive; undefined while unmonitored. */
  tickMs: number | undefined;
  /** The grace that blind time gave the last alert; a different grace restarts the ticks. 0 before the first alert. */
  graceMs: number;
}

export interface EntityInput {
  key: string;
}

export interface Keepalive extends KeepaliveTimeouts {
  intervalMs: number;
  atMs: number;
}

export type EntityEvent =
  | ({ type: 'keepalive.received' } & Keepalive)
  | {
      type: 'deadline.reached';
      deadlineAtMs: number;
      /** The time since the last keepalive, without blind time. */
      elapsedMs: number;
      /** The blind time since then. */
      graceMs: number;
      keepaliveEventExists: boolean;
      /** Whether the entity is deleted when its agent stops. */
      deregister: boolean;
    }
  /** The agent stops. `deregister`: whether the entity is deleted then. */
  | { type: 'stop.announced'; atMs: number; deregister: boolean }
  | { type: 'keepalive.deleted' }
  | { type: 'entity.deleted' };

/** The nominal time of the next alert, Unix ms; blind time moves it later. Undefined while unmonitored. */
export const keepaliveDeadlineAtMs = ({ lastReceivedAtMs, tickMs }: EntityContext): number | undefined =>
  tickMs === undefined ? undefined : lastReceivedAtMs + tickMs;

/** Returns the alert at which the ticks restart when blind time follows the last alert. */
export const keepaliveRepeat = ({ lastReceivedAtMs, graceMs, warningMs, criticalMs }: EntityContext) => ({
  graceMs,
  firstAtMs: lastReceivedAtMs + nextTickMs(0, { warningMs, criticalMs }),
});

const machine = setup({
  types: { context: {} as EntityContext, input: {} as EntityInput, events: {} as EntityEvent },
  actions: {
    rearm: assign((_, { warningMs, criticalMs, intervalMs, atMs }: Keepalive) => ({
      warningMs,
      criticalMs,
      intervalMs,
      lastReceivedAtMs: atMs,
      tickMs: nextTickMs(0, { warningMs, criticalMs }),
      graceMs: 0,
    })),
    advance: assign(({ context }, { elapsedMs, graceMs }: { elapsedMs: number; graceMs: number }) => ({
      tickMs: nextTickMs(elapsedMs, context),
      graceMs,
    })),
    disarm: assign({ tickMs: undefined }),
    // The wait takes the place of the timeouts, so that blind time moves its deadline too.
    awaitRestart: assign((_, { atMs, waitMs }: { atMs: number; waitMs: number }) => ({
      warningMs: waitMs,
      criticalMs: 0,
      lastReceivedAtMs: atMs,
      tickMs: waitMs,
      graceMs: 0,
    })),
    setDeadline: notProvided('setDeadline'),
    clearDeadline: notProvided('clearDeadline'),
    deregister: notProvided('deregister'),
    publishAlert: notProvided<{ status: number; thresholdMs: number }>('publishAlert'),
  },
  guards: {
    deadlineMoved: (_, { deadlineAtMs, reachedAtMs }: { deadlineAtMs: number | undefined; reachedAtMs: number }) =>
      deadlineAtMs !== reachedAtMs,
    keepaliveEventGone: (_, { keepaliveEventExists }: { keepaliveEventExists: boolean }) => !keepaliveEventExists,
    mustDeregister: (_, { deregister }: { deregister: boolean }) => deregister,
    criticalTimeoutPassed: (_, { elapsedMs, criticalMs }: { elapsedMs: number; criticalMs: number }) =>
      criticalMs > 0 && elapsedMs >= criticalMs,
  },
});

/** An entity, and the monitor of its keepalives. */
export const entityMachine = machine.createMachine({
  id: 'entity',
  version: '2',
  description: 'An entity, and the monitor of the keepalives of its agent.',
  options: { maxIterations: 1_000 },
  context: ({ input }) => ({
    key: input.key,
    warningMs: 0,
    criticalMs: 0,
    intervalMs: 0,
    lastReceivedAtMs: 0,
    tickMs: undefined,
    graceMs: 0,
  }),
  on: {
    'keepalive.deleted': {
      description: 'The keepalive event was deleted: no keepalive is expected until the next one.',
      target: '.registered.unmonitored',
      actions: ['disarm', 'clearDeadline'],
    },
    'entity.deleted': { description: 'The entity was deleted.', target: '.deregistered' },
  },
  initial: 'registered',
  states: {
    registered: {
      description: 'The entity exists, and no keepalive is missing.',
      on: {
        'stop.announced': {
          description: 'The agent stops, and its entity is to be deleted then.',
          guard: { type: 'mustDeregister', params: ({ event }) => ({ deregister: event.deregister }) },
          target: '.leaving',
          actions: [
            { type: 'awaitRestart', params: ({ event }) => ({ atMs: event.atMs, waitMs: 900 }) },
            'setDeadline',
          ],
        },
      },
      initial: 'unmonitored',
      states: {
        unmonitored: {
          description: 'No keepalive is expected: none has been received, or the keepalive event was deleted.',
          on: {
            'keepalive.received': {
              description: 'The first keepalive starts the monitor.',
              target: 'monitored',
              actions: [{ type: 'rearm', params: ({ event }) => event }, 'setDeadline'],
            },
          },
        },
        monitored: {
          description: 'The last keepalive is younger than every timeout.',
          on: {
            'keepalive.received': {
              description: 'Each keepalive restarts the timeouts.',
              actions: [{ type: 'rearm', params: ({ event }) => event }, 'setDeadline'],
            },
            'deadline.reached': [
              {
                description: 'A deadline that was moved meanwhile is void.',
                guard: {
                  type: 'deadlineMoved',
                  params: ({ context, event }) => ({
                    deadlineAtMs: context.tickMs === undefined ? undefined : context.lastReceivedAtMs + context.tickMs,
                    reachedAtMs: event.deadlineAtMs,
                  }),
                },
              },
              {
                description: 'Without a stored keepalive event there is nothing to alert on.',
                guard: {
                  type: 'keepaliveEventGone',
                  params: ({ event }) => ({ keepaliveEventExists: event.keepaliveEventExists }),
                },
                target: 'unmonitored',
                actions: ['disarm', 'clearDeadline'],
              },
              {
                description: 'If the agent requests deregistration, it is deregistered without an alert.',
                guard: { type: 'mustDeregister', params: ({ event }) => ({ deregister: event.deregister }) },
                target: '#entity.deregistered',
                actions: 'deregister',
              },
              {
                description: 'No keepalive came within the critical timeout.',
                guard: {
                  type: 'criticalTimeoutPassed',
                  params: ({ context, event }) => ({ elapsedMs: event.elapsedMs, criticalMs: context.criticalMs }),
                },
                target: '#entity.critical',
                actions: [
                  { type: 'advance', params: ({ event }) => event },
                  'setDeadline',
                  {
                    type: 'publishAlert',
                    params: ({ context }) => ({ status: 2, thresholdMs: context.criticalMs }),
                  },
                ],
              },
              {
                description: 'No keepalive came within the warning timeout.',
                target: '#entity.warning',
                actions: [
                  { type: 'advance', params: ({ event }) => event },
                  'setDeadline',
                  {
                    type: 'publishAlert',
                    params: ({ context }) => ({ status: 1, thresholdMs: context.warningMs }),
                  },
                ],
              },
            ],
          },
        },
        leaving: {
          description: 'The agent announced its stop: its entity is deleted unless it restarts in 0.9 s.',
          on: {
            'keepalive.received': {
              description: 'The agent has restarted.',
              target: 'monitored',
              actions: [{ type: 'rearm', params: ({ event }) => event }, 'setDeadline'],
            },
            'deadline.reached': [
              {
                description: 'A deadline that was moved meanwhile is void.',
                guard: {
                  type: 'deadlineMoved',
                  params: ({ context, event }) => ({
                    deadlineAtMs: context.tickMs === undefined ? undefined : context.lastReceivedAtMs + context.tickMs,
                    reachedAtMs: event.deadlineAtMs,
                  }),
                },
              },
              {
                description: 'The agent has not restarted.',
                target: '#entity.deregistered',
                actions: 'deregister',
              },
            ],
          },
        },
      },
    },
    warning: {
      description: 'No keepalive came within the warning timeout; the alert is repeated at each multiple of it.',
      on: {
        'keepalive.received': {
          description: 'The agent is back.',
          target: 'registered.monitored',
          actions: [{ type: 'rearm', params: ({ event }) => event }, 'setDeadline'],
        },
        'deadline.reached': [
          {
            description: 'A deadline that was moved meanwhile is void.',
            guard: {
              type: 'deadlineMoved',
              params: ({ context, event }) => ({
                deadlineAtMs: context.tickMs === undefined ? undefined : context.lastReceivedAtMs + context.tickMs,
                reachedAtMs: event.deadlineAtMs,
              }),
            },
          },
          {
            description: 'Without a stored keepalive event there is nothing to alert on.',
            guard: {
              type: 'keepaliveEventGone',
              params: ({ event }) => ({ keepaliveEventExists: event.keepaliveEventExists }),
            },
            target: 'registered.unmonitored',
            actions: ['disarm', 'clearDeadline'],
          },
          {
            description: 'If the agent requests deregistration, it is deregistered.',
            guard: { type: 'mustDeregister', params: ({ event }) => ({ deregister: event.deregister }) },
            target: 'deregistered',
            actions: 'deregister',
          },
          {
            description: 'No keepalive came within the critical timeout either.',
            guard: {
              type: 'criticalTimeoutPassed',
              params: ({ context, event }) => ({ elapsedMs: event.elapsedMs, criticalMs: context.criticalMs }),
            },
            target: 'critical',
            actions: [
              { type: 'advance', params: ({ event }) => event },
              'setDeadline',
              { type: 'publishAlert', params: ({ context }) => ({ status: 2, thresholdMs: context.criticalMs }) },
            ],
          },
          {
            description: 'The alert is repeated.',
            target: 'warning',
            actions: [
              { type: 'advance', params: ({ event }) => event },
              'setDeadline',
              { type: 'publishAlert', params: ({ context }) => ({ status: 1, thresholdMs: context.warningMs }) },
            ],
          },
        ],
      },
    },
    critical: {
      description: 'No keepalive came within the critical timeout; blind time never takes it back to warning.',
      on: {
        'keepalive.received': {
          description: 'The agent is back.',
          target: 'registered.monitored',
          actions: [{ type: 'rearm', params: ({ event }) => event }, 'setDeadline'],
        },
        'deadline.reached': [
          {
            description: 'A deadline that was moved meanwhile is void.',
            guard: {
              type: 'deadlineMoved',
              params: ({ context, event }) => ({
                deadlineAtMs: context.tickMs === undefined ? undefined : context.lastReceivedAtMs + context.tickMs,
                reachedAtMs: event.deadlineAtMs,
              }),
            },
          },
          {
            description: 'Without a stored keepalive event there is nothing to alert on.',
            guard: {
              type: 'keepaliveEventGone',
              params: ({ event }) => ({ keepaliveEventExists: event.keepaliveEventExists }),
            },
            target: 'registered.unmonitored',
            actions: ['disarm', 'clearDeadline'],
          },
          {
            description: 'If the agent requests deregistration, it is deregistered.',
            guard: { type: 'mustDeregister', params: ({ event }) => ({ deregister: event.deregister }) },
            target: 'deregistered',
            actions: 'deregister',
          },
          {
            description: 'The alert is repeated.',
            target: 'critical',
            actions: [
              { type: 'advance', params: ({ event }) => event },
              'setDeadline',
              { type: 'publishAlert', params: ({ context }) => ({ status: 2, thresholdMs: context.criticalMs }) },
            ],
          },
        ],
      },
    },
    deregistered: { type: 'final', description: 'The entity was deleted, or deregistered.', entry: 'clearDeadline' },
  },
});
