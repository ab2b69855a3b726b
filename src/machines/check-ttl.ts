import { assign, setup } from 'xstate';
import { notProvided } from './not-provided.ts';

export interface CheckTtlContext {
  /** `<namespace>/<entity>/<check>` */
  key: string;
  ttlMs: number;
  /** Status of the expiry event: 1, or the status that the check configures. */
  alertStatus: number;
  /** Receipt of the last real result, Unix ms. */
  lastReceivedAtMs: number;
  /** The next expiry, in ms after the last real result: ttl, 2 ttl, … */
  tickMs: number;
  /** The grace that blind time gave the last expiry; a different grace restarts the ticks. 0 before the first expiry. */
  graceMs: number;
}

export interface CheckTtlInput {
  key: string;
  ttlMs: number;
  alertStatus: number;
  atMs: number;
}

interface Rearming {
  ttlMs: number;
  alertStatus: number;
  atMs: number;
}

interface Subject {
  entityExists: boolean;
  eventExists: boolean;
}

export type CheckTtlEvent =
  | ({ type: 'result.received' } & Rearming)
  | ({
      type: 'deadline.reached';
      deadlineAtMs: number;
      /** The time since the last real result, without blind time. */
      elapsedMs: number;
      /** The blind time since then. */
      graceMs: number;
      keepaliveStatus: number;
    } & Subject)
  | { type: 'event.deleted' }
  | { type: 'entity.deleted' }
  | { type: 'check.deleted' };

/** The nominal time of the next expiry, Unix ms; blind time moves it later. */
export const ttlDeadlineAtMs = (context: Pick<CheckTtlContext, 'lastReceivedAtMs' | 'tickMs'>): number =>
  context.lastReceivedAtMs + context.tickMs;

/** Returns the expiry at which the ticks restart when blind time follows the last expiry. Undefined before the first one. */
export const ttlRepeat = ({ lastReceivedAtMs, ttlMs, tickMs, graceMs }: CheckTtlContext) =>
  tickMs === ttlMs ? undefined : { graceMs, firstAtMs: lastReceivedAtMs + ttlMs };

const machine = setup({
  types: { context: {} as CheckTtlContext, input: {} as CheckTtlInput, events: {} as CheckTtlEvent },
  actions: {
    rearm: assign((_, { ttlMs, alertStatus, atMs }: Rearming) => ({
      ttlMs,
      alertStatus,
      lastReceivedAtMs: atMs,
      tickMs: ttlMs,
      graceMs: 0,
    })),
    advance: assign(({ context }, { elapsedMs, graceMs }: { elapsedMs: number; graceMs: number }) => ({
      tickMs: (Math.floor(elapsedMs / context.ttlMs) + 1) * context.ttlMs,
      graceMs,
    })),
    setDeadline: notProvided('setDeadline'),
    clearDeadline: notProvided('clearDeadline'),
    publishExpiry: notProvided('publishExpiry'),
  },
  guards: {
    deadlineMoved: (_, { deadlineAtMs, reachedAtMs }: { deadlineAtMs: number; reachedAtMs: number }) =>
      deadlineAtMs !== reachedAtMs,
    hasNoTtl: (_, { ttlMs }: { ttlMs: number }) => ttlMs <= 0,
    subjectGone: (_, { entityExists, eventExists }: Subject) => !entityExists || !eventExists,
    agentAlreadyAlerts: (_, { keepaliveStatus }: { keepaliveStatus: number }) => keepaliveStatus > 0,
    alertIsCritical: (_, { alertStatus }: { alertStatus: number }) => alertStatus >= 2,
  },
});

/** The check TTL: it expires when no result of the check is received for that time. */
export const checkTtlMachine = machine.createMachine({
  id: 'check-ttl',
  version: '1',
  description: 'The TTL of a check: it expires when no result is received for that time.',
  options: { maxIterations: 1_000 },
  context: ({ input }) => ({
    key: input.key,
    ttlMs: input.ttlMs,
    alertStatus: input.alertStatus,
    lastReceivedAtMs: input.atMs,
    tickMs: input.ttlMs,
    graceMs: 0,
  }),
  entry: 'setDeadline',
  on: {
    'event.deleted': { description: 'The event was deleted.', target: '.deregistered' },
    'entity.deleted': { description: 'The entity was deleted.', target: '.deregistered' },
    'check.deleted': { description: 'The check was deleted.', target: '.deregistered' },
  },
  initial: 'registered',
  states: {
    registered: {
      description: 'Armed: the last result is younger than the TTL.',
      on: {
        'result.received': [
          {
            description: 'A result without a TTL disarms it.',
            guard: { type: 'hasNoTtl', params: ({ event }) => ({ ttlMs: event.ttlMs }) },
            target: 'deregistered',
          },
          {
            description: 'Each result restarts the TTL, without leaving the state.',
            actions: [{ type: 'rearm', params: ({ event }) => event }, 'setDeadline'],
          },
        ],
        'deadline.reached': [
          {
            description: 'A deadline that was moved meanwhile is void.',
            guard: {
              type: 'deadlineMoved',
              params: ({ context, event }) => ({
                deadlineAtMs: context.lastReceivedAtMs + context.tickMs,
                reachedAtMs: event.deadlineAtMs,
              }),
            },
          },
          {
            description: 'Without its entity or its event there is nothing to alert on.',
            guard: {
              type: 'subjectGone',
              params: ({ event }) => ({ entityExists: event.entityExists, eventExists: event.eventExists }),
            },
            target: 'deregistered',
          },
          {
            description: 'The alert on the missing keepalives of the agent covers this check.',
            guard: {
              type: 'agentAlreadyAlerts',
              params: ({ event }) => ({ keepaliveStatus: event.keepaliveStatus }),
            },
            target: 'deregistered',
          },
          {
            description: 'No result came within the TTL, and the check asks for a status of 2 or more.',
            guard: { type: 'alertIsCritical', params: ({ context }) => ({ alertStatus: context.alertStatus }) },
            target: 'critical',
            actions: [{ type: 'advance', params: ({ event }) => event }, 'setDeadline', 'publishExpiry'],
          },
          {
            description: 'No result came within the TTL.',
            target: 'warning',
            actions: [{ type: 'advance', params: ({ event }) => event }, 'setDeadline', 'publishExpiry'],
          },
        ],
      },
    },
    warning: {
      description: 'Expired: the alert has status 1 and is repeated once per TTL.',
      on: {
        'result.received': [
          {
            description: 'A result without a TTL disarms it.',
            guard: { type: 'hasNoTtl', params: ({ event }) => ({ ttlMs: event.ttlMs }) },
            target: 'deregistered',
          },
          {
            description: 'A result ends the alert and arms it again.',
            target: 'registered',
            actions: [{ type: 'rearm', params: ({ event }) => event }, 'setDeadline'],
          },
        ],
        'deadline.reached': [
          {
            description: 'A deadline that was moved meanwhile is void.',
            guard: {
              type: 'deadlineMoved',
              params: ({ context, event }) => ({
                deadlineAtMs: context.lastReceivedAtMs + context.tickMs,
                reachedAtMs: event.deadlineAtMs,
              }),
            },
          },
          {
            description: 'Without its entity or its event there is nothing to alert on.',
            guard: {
              type: 'subjectGone',
              params: ({ event }) => ({ entityExists: event.entityExists, eventExists: event.eventExists }),
            },
            target: 'deregistered',
          },
          {
            description: 'The alert on the missing keepalives of the agent covers this check.',
            guard: {
              type: 'agentAlreadyAlerts',
              params: ({ event }) => ({ keepaliveStatus: event.keepaliveStatus }),
            },
            target: 'deregistered',
          },
          {
            description: 'The alert is repeated, with a status of 2 or more.',
            guard: { type: 'alertIsCritical', params: ({ context }) => ({ alertStatus: context.alertStatus }) },
            target: 'critical',
            actions: [{ type: 'advance', params: ({ event }) => event }, 'setDeadline', 'publishExpiry'],
          },
          {
            description: 'The alert is repeated, with status 1.',
            target: 'warning',
            actions: [{ type: 'advance', params: ({ event }) => event }, 'setDeadline', 'publishExpiry'],
          },
        ],
      },
    },
    critical: {
      description: 'Expired: the alert has the higher status that the check asks for, and is repeated once per TTL.',
      on: {
        'result.received': [
          {
            description: 'A result without a TTL disarms it.',
            guard: { type: 'hasNoTtl', params: ({ event }) => ({ ttlMs: event.ttlMs }) },
            target: 'deregistered',
          },
          {
            description: 'A result ends the alert and arms it again.',
            target: 'registered',
            actions: [{ type: 'rearm', params: ({ event }) => event }, 'setDeadline'],
          },
        ],
        'deadline.reached': [
          {
            description: 'A deadline that was moved meanwhile is void.',
            guard: {
              type: 'deadlineMoved',
              params: ({ context, event }) => ({
                deadlineAtMs: context.lastReceivedAtMs + context.tickMs,
                reachedAtMs: event.deadlineAtMs,
              }),
            },
          },
          {
            description: 'Without its entity or its event there is nothing to alert on.',
            guard: {
              type: 'subjectGone',
              params: ({ event }) => ({ entityExists: event.entityExists, eventExists: event.eventExists }),
            },
            target: 'deregistered',
          },
          {
            description: 'The alert on the missing keepalives of the agent covers this check.',
            guard: {
              type: 'agentAlreadyAlerts',
              params: ({ event }) => ({ keepaliveStatus: event.keepaliveStatus }),
            },
            target: 'deregistered',
          },
          {
            description: 'The alert is repeated, with a status of 2 or more.',
            guard: { type: 'alertIsCritical', params: ({ context }) => ({ alertStatus: context.alertStatus }) },
            target: 'critical',
            actions: [{ type: 'advance', params: ({ event }) => event }, 'setDeadline', 'publishExpiry'],
          },
          {
            description: 'The alert is repeated, with status 1.',
            target: 'warning',
            actions: [{ type: 'advance', params: ({ event }) => event }, 'setDeadline', 'publishExpiry'],
          },
        ],
      },
    },
    deregistered: {
      type: 'final',
      description: 'Disarmed, or its event, entity or check is gone.',
      entry: 'clearDeadline',
    },
  },
});
