import { assign, setup } from 'xstate';
import { type KeepaliveTimeouts, nextTickMs } from '../rules/keepalive-ticks.ts';
import { notProvided } from './not-provided.ts';

export interface EntityContext extends KeepaliveTimeouts {
  /** `<namespace>/<name>` */
  key: string;
  intervalMs: number;
  /** Receipt of the last keepalive, Unix ms; 0 before the first. */
  lastReceivedAtMs: number;
  /** The next alert, in ms after the last keepalive; undefined while nothing is monitored. */
  tickMs: number | undefined;
}

export interface EntityInput {
  key: string;
}

interface Keepalive extends KeepaliveTimeouts {
  intervalMs: number;
  atMs: number;
}

export type EntityEvent =
  | ({ type: 'keepalive.received' } & Keepalive)
  | {
      type: 'deadline.reached';
      deadlineAtMs: number;
      /** Since the last keepalive, without blind time. */
      elapsedMs: number;
      keepaliveEventExists: boolean;
      /** Whether the entity is to go when its agent does. */
      deregister: boolean;
    }
  | { type: 'keepalive.deleted' }
  | { type: 'entity.deleted' };

/** The nominal moment of the next alert, Unix ms; blind time moves it later. */
export const keepaliveDeadlineAtMs = ({ lastReceivedAtMs, tickMs }: EntityContext): number | undefined =>
  tickMs === undefined ? undefined : lastReceivedAtMs + tickMs;

const machine = setup({
  types: { context: {} as EntityContext, input: {} as EntityInput, events: {} as EntityEvent },
  actions: {
    rearm: assign((_, { warningMs, criticalMs, intervalMs, atMs }: Keepalive) => ({
      warningMs,
      criticalMs,
      intervalMs,
      lastReceivedAtMs: atMs,
      tickMs: nextTickMs(0, { warningMs, criticalMs }),
    })),
    advance: assign(({ context }, { elapsedMs }: { elapsedMs: number }) => ({
      tickMs: nextTickMs(elapsedMs, context),
    })),
    disarm: assign({ tickMs: undefined }),
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

const rearm = [
  {
    type: 'rearm',
    params: ({ event: { warningMs, criticalMs, intervalMs, atMs } }: { event: Keepalive }) => ({
      warningMs,
      criticalMs,
      intervalMs,
      atMs,
    }),
  },
  'setDeadline',
] as const;

const advance = [
  {
    type: 'advance',
    params: ({ event }: { event: { elapsedMs: number } }) => ({ elapsedMs: event.elapsedMs }),
  },
  'setDeadline',
] as const;

const disarm = ['disarm', 'clearDeadline'] as const;

interface Facts {
  context: EntityContext;
  event: { deadlineAtMs: number; elapsedMs: number; keepaliveEventExists: boolean; deregister: boolean };
}

const whenever = {
  'deadline.reached': [
    {
      guard: {
        type: 'deadlineMoved',
        params: ({ context, event }: Facts) => ({
          deadlineAtMs: keepaliveDeadlineAtMs(context),
          reachedAtMs: event.deadlineAtMs,
        }),
      },
    },
    {
      guard: {
        type: 'keepaliveEventGone',
        params: ({ event }: Facts) => ({ keepaliveEventExists: event.keepaliveEventExists }),
      },
      target: 'registered',
      actions: disarm,
    },
    {
      guard: { type: 'mustDeregister', params: ({ event }: Facts) => ({ deregister: event.deregister }) },
      target: 'deregistered',
      actions: 'deregister',
    },
    {
      guard: {
        type: 'criticalTimeoutPassed',
        params: ({ context, event }: Facts) => ({ elapsedMs: event.elapsedMs, criticalMs: context.criticalMs }),
      },
      target: 'critical',
      actions: [
        ...advance,
        {
          type: 'publishAlert',
          params: ({ context }: { context: EntityContext }) => ({ status: 2, thresholdMs: context.criticalMs }),
        },
      ],
    },
    {
      target: 'warning',
      actions: [
        ...advance,
        {
          type: 'publishAlert',
          params: ({ context }: { context: EntityContext }) => ({ status: 1, thresholdMs: context.warningMs }),
        },
      ],
    },
  ],
  'keepalive.deleted': { target: 'registered', actions: disarm },
  'entity.deleted': 'deregistered',
} as const;

const missing = { on: { ...whenever, 'keepalive.received': { target: 'registered', actions: rearm } } } as const;

/** An entity: registered while keepalives arrive, warning and critical when none did within the timeouts, deregistered when it is deleted. */
export const entityMachine = machine.createMachine({
  id: 'entity',
  version: '1',
  options: { maxIterations: 1_000 },
  context: ({ input }) => ({
    key: input.key,
    warningMs: 0,
    criticalMs: 0,
    intervalMs: 0,
    lastReceivedAtMs: 0,
    tickMs: undefined,
  }),
  initial: 'registered',
  states: {
    registered: { on: { ...whenever, 'keepalive.received': { actions: rearm } } },
    warning: missing,
    critical: missing,
    deregistered: { type: 'final', entry: 'clearDeadline' },
  },
});
