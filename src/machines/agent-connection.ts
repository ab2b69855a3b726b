import { assign, setup } from 'xstate';
import { notProvided } from './not-provided.ts';

/** The backend pings a peer that has been silent for so long. */
export const PING_AFTER_MS = 30_000;
export const WARNING_AFTER_MS = 45_000;
export const CRITICAL_AFTER_MS = 60_000;
/** How long a session that is being closed may take. */
export const CLOSE_GRACE_MS = 10_000;

export interface ConnectionContext {
  /** The session's id. */
  key: string;
  deadlineAtMs: number;
}

export interface ConnectionInput {
  key: string;
  atMs: number;
}

export type ConnectionEvent =
  | {
      type: 'deadline.reached';
      deadlineAtMs: number;
      atMs: number;
      /** How long nothing was heard, in ms of reading: time in which the backend did not read does not count. */
      silentMs: number;
    }
  | { type: 'frame.received'; atMs: number }
  | { type: 'write.stuck'; atMs: number }
  | { type: 'entity.deleted'; atMs: number }
  | { type: 'shutdown.requested'; atMs: number }
  | { type: 'store.failed'; atMs: number }
  /** Its agent is new, and there is no room for another entity. */
  | { type: 'registration.refused'; atMs: number }
  | { type: 'protocol.violated' }
  | { type: 'socket.closed'; code: number }
  /** At start: the process that held this session is gone. */
  | { type: 'process.restarted' };

const setDeadlineIn = (delayMs: number) =>
  [
    { type: 'arm', params: ({ event }: { event: { atMs: number } }) => ({ atMs: event.atMs, delayMs }) },
    'setDeadline',
  ] as const;

const machine = setup({
  types: { context: {} as ConnectionContext, input: {} as ConnectionInput, events: {} as ConnectionEvent },
  actions: {
    arm: assign((_, { atMs, delayMs }: { atMs: number; delayMs: number }) => ({ deadlineAtMs: atMs + delayMs })),
    setDeadline: notProvided('setDeadline'),
    clearDeadline: notProvided('clearDeadline'),
    sendPing: notProvided('sendPing'),
    closeSocket: notProvided<{ code: number; reason: string }>('closeSocket'),
    terminateSocket: notProvided('terminateSocket'),
  },
  guards: {
    deadlineMoved: (_, { deadlineAtMs, reachedAtMs }: { deadlineAtMs: number; reachedAtMs: number }) =>
      deadlineAtMs !== reachedAtMs,
    silentFor: (_, { silentMs, limitMs }: { silentMs: number; limitMs: number }) => silentMs >= limitMs,
  },
});

const deadlineMoved = {
  guard: {
    type: 'deadlineMoved',
    params: ({ context, event }: { context: ConnectionContext; event: { deadlineAtMs: number } }) => ({
      deadlineAtMs: context.deadlineAtMs,
      reachedAtMs: event.deadlineAtMs,
    }),
  },
} as const;

const silentFor = (limitMs: number) =>
  ({
    type: 'silentFor',
    params: ({ event }: { event: { silentMs: number } }) => ({ silentMs: event.silentMs, limitMs }),
  }) as const;

const rest = (limitMs: number) =>
  [
    {
      type: 'arm',
      params: ({ event }: { event: { atMs: number; silentMs: number } }) => ({
        atMs: event.atMs,
        delayMs: limitMs - event.silentMs,
      }),
    },
    'setDeadline',
  ] as const;

const closing = (code: number, reason: string) =>
  ({
    target: 'critical',
    actions: [{ type: 'closeSocket', params: { code, reason } }, ...setDeadlineIn(CLOSE_GRACE_MS)],
  }) as const;

const ending = {
  'write.stuck': { target: 'critical', actions: setDeadlineIn(CLOSE_GRACE_MS) },
  'entity.deleted': closing(1001, 'bye'),
  'shutdown.requested': closing(1001, 'bye'),
  'store.failed': closing(1011, 'the store failed'),
  'registration.refused': closing(1008, 'entity limit reached'),
  'protocol.violated': {
    target: 'deregistered',
    actions: { type: 'closeSocket', params: { code: 1002, reason: 'message has no type line' } },
  },
  'socket.closed': 'deregistered',
  'process.restarted': 'deregistered',
} as const;

/** One connection of an agent: registered while frames arrive, warning after 45 s of silence, critical while it is being closed, deregistered when it is over. */
export const agentConnectionMachine = machine.createMachine({
  id: 'agent-connection',
  version: '1',
  options: { maxIterations: 1_000 },
  context: ({ input }) => ({ key: input.key, deadlineAtMs: input.atMs + PING_AFTER_MS }),
  initial: 'registered',
  entry: 'setDeadline',
  states: {
    registered: {
      on: {
        ...ending,
        'deadline.reached': [
          deadlineMoved,
          { guard: silentFor(WARNING_AFTER_MS), target: 'warning', actions: rest(CRITICAL_AFTER_MS) },
          { guard: silentFor(PING_AFTER_MS), actions: ['sendPing', ...rest(WARNING_AFTER_MS)] },
          { actions: rest(PING_AFTER_MS) },
        ],
      },
    },
    warning: {
      on: {
        ...ending,
        'frame.received': { target: 'registered', actions: setDeadlineIn(PING_AFTER_MS) },
        'deadline.reached': [
          deadlineMoved,
          { guard: silentFor(CRITICAL_AFTER_MS), ...closing(1001, 'bye') },
          { guard: silentFor(WARNING_AFTER_MS), actions: rest(CRITICAL_AFTER_MS) },
          { target: 'registered', actions: rest(PING_AFTER_MS) },
        ],
      },
    },
    critical: {
      on: {
        'deadline.reached': [deadlineMoved, { target: 'deregistered', actions: 'terminateSocket' }],
        'socket.closed': 'deregistered',
        'process.restarted': 'deregistered',
      },
    },
    deregistered: { type: 'final', entry: 'clearDeadline' },
  },
});
