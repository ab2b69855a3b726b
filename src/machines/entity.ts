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
  /** The grace that blind time gave the last alert; under another one the ticks begin anew. 0 before the first. */
  graceMs: number;
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
      /** That blind time. */
      graceMs: number;
      keepaliveEventExists: boolean;
      /** Whether the entity is to go when its agent does. */
      deregister: boolean;
    }
  | { type: 'keepalive.deleted' }
  | { type: 'entity.deleted' };

/** The nominal moment of the next alert, Unix ms; blind time moves it later. */
export const keepaliveDeadlineAtMs = ({ lastReceivedAtMs, tickMs }: EntityContext): number | undefined =>
  tickMs === undefined ? undefined : lastReceivedAtMs + tickMs;

/** What it must begin anew with when blind time comes after the last alert. */
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
    params: ({ event: { elapsedMs, graceMs } }: { event: { elapsedMs: number; graceMs: number } }) => ({
      elapsedMs,
      graceMs,
    }),
  },
  'setDeadline',
] as const;

const disarm = ['disarm', 'clearDeadline'] as const;

interface Facts {
  context: EntityContext;
  event: { deadlineAtMs: number; elapsedMs: number; keepaliveEventExists: boolean; deregister: boolean };
}

const beforeAlert = [
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
] as const;

const alertCritical = {
  target: 'critical',
  actions: [
    ...advance,
    {
      type: 'publishAlert',
      params: ({ context }: { context: EntityContext }) => ({ status: 2, thresholdMs: context.criticalMs }),
    },
  ],
} as const;

const alertWarning = {
  target: 'warning',
  actions: [
    ...advance,
    {
      type: 'publishAlert',
      params: ({ context }: { context: EntityContext }) => ({ status: 1, thresholdMs: context.warningMs }),
    },
  ],
} as const;

const whenever = {
  'deadline.reached': [
    ...beforeAlert,
    {
      guard: {
        type: 'criticalTimeoutPassed',
        params: ({ context, event }: Facts) => ({ elapsedMs: event.elapsedMs, criticalMs: context.criticalMs }),
      },
      ...alertCritical,
    },
    alertWarning,
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
    graceMs: 0,
  }),
  initial: 'registered',
  states: {
    registered: { on: { ...whenever, 'keepalive.received': { actions: rearm } } },
    warning: missing,
    // Blind time makes nobody better: what was critical stays so, however short it is silent since.
    critical: { on: { ...missing.on, 'deadline.reached': [...beforeAlert, alertCritical] } },
    deregistered: { type: 'final', entry: 'clearDeadline' },
  },
});
