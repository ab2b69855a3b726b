import { assign, setup } from 'xstate';
import { notProvided } from './not-provided.ts';

export interface CheckTtlContext {
  /** `<namespace>/<entity>/<check>` */
  key: string;
  ttlMs: number;
  /** Status of the expiry event: 1, or what the check configures. */
  alertStatus: number;
  /** When the last real result came, Unix ms. */
  lastReceivedAtMs: number;
  /** The next expiry, in ms after the last real result: ttl, 2 ttl, … */
  tickMs: number;
  /** The grace that blind time gave the last expiry; under another one the ticks begin anew. 0 before the first. */
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
      /** Since the last real result, without blind time. */
      elapsedMs: number;
      /** That blind time. */
      graceMs: number;
      keepaliveStatus: number;
    } & Subject)
  | { type: 'event.deleted' }
  | { type: 'entity.deleted' }
  | { type: 'check.deleted' };

/** The nominal moment of the next expiry, Unix ms; blind time moves it later. */
export const ttlDeadlineAtMs = (context: Pick<CheckTtlContext, 'lastReceivedAtMs' | 'tickMs'>): number =>
  context.lastReceivedAtMs + context.tickMs;

/** What it must begin anew with when blind time comes after the last expiry. */
export const ttlRepeat = ({ lastReceivedAtMs, ttlMs, graceMs }: CheckTtlContext) => ({
  graceMs,
  firstAtMs: lastReceivedAtMs + ttlMs,
});

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

const rearm = {
  type: 'rearm',
  params: ({ event: { ttlMs, alertStatus, atMs } }: { event: Rearming }) => ({ ttlMs, alertStatus, atMs }),
} as const;

const disarms = {
  guard: { type: 'hasNoTtl', params: ({ event }: { event: Rearming }) => ({ ttlMs: event.ttlMs }) },
  target: 'deregistered',
} as const;

const advance = {
  type: 'advance',
  params: ({ event: { elapsedMs, graceMs } }: { event: { elapsedMs: number; graceMs: number } }) => ({
    elapsedMs,
    graceMs,
  }),
} as const;

const whenever = {
  'deadline.reached': [
    {
      guard: {
        type: 'deadlineMoved',
        params: ({ context, event }: { context: CheckTtlContext; event: { deadlineAtMs: number } }) => ({
          deadlineAtMs: ttlDeadlineAtMs(context),
          reachedAtMs: event.deadlineAtMs,
        }),
      },
    },
    {
      guard: {
        type: 'subjectGone',
        params: ({ event: { entityExists, eventExists } }: { event: Subject }) => ({ entityExists, eventExists }),
      },
      target: 'deregistered',
    },
    {
      guard: {
        type: 'agentAlreadyAlerts',
        params: ({ event }: { event: { keepaliveStatus: number } }) => ({ keepaliveStatus: event.keepaliveStatus }),
      },
      target: 'deregistered',
    },
    {
      guard: {
        type: 'alertIsCritical',
        params: ({ context }: { context: CheckTtlContext }) => ({ alertStatus: context.alertStatus }),
      },
      target: 'critical',
      actions: [advance, 'setDeadline', 'publishExpiry'],
    },
    { target: 'warning', actions: [advance, 'setDeadline', 'publishExpiry'] },
  ],
  'event.deleted': 'deregistered',
  'entity.deleted': 'deregistered',
  'check.deleted': 'deregistered',
} as const;

const expired = {
  on: { ...whenever, 'result.received': [disarms, { target: 'registered', actions: [rearm, 'setDeadline'] }] },
} as const;

/**
 * The dead man's switch of one check: registered = armed, warning = expired with status 1, critical = expired with a
 * higher status, deregistered = disarmed. A deadline that was moved meanwhile is void.
 */
export const checkTtlMachine = machine.createMachine({
  id: 'check-ttl',
  version: '1',
  options: { maxIterations: 1_000 },
  context: ({ input }) => ({
    key: input.key,
    ttlMs: input.ttlMs,
    alertStatus: input.alertStatus,
    lastReceivedAtMs: input.atMs,
    tickMs: input.ttlMs,
    graceMs: 0,
  }),
  initial: 'registered',
  entry: 'setDeadline',
  states: {
    // Without a target: it happens with every result, and nothing is left or entered.
    registered: { on: { ...whenever, 'result.received': [disarms, { actions: [rearm, 'setDeadline'] }] } },
    warning: expired,
    critical: expired,
    deregistered: { type: 'final', entry: 'clearDeadline' },
  },
});
