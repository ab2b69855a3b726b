import { assign, setup } from 'xstate';
import { notProvided } from './not-provided.ts';

/** The time limit of the close handshake. The machine below contains the same number. */
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
      /** The time since the last frame, ms. Time in which the backend did not read does not count. */
      silentMs: number;
    }
  | { type: 'frame.received'; atMs: number }
  | { type: 'write.stuck'; atMs: number }
  | { type: 'entity.deleted'; atMs: number }
  | { type: 'shutdown.requested'; atMs: number }
  | { type: 'store.failed'; atMs: number }
  /** The agent is new and the entity limit is reached. */
  | { type: 'registration.refused'; atMs: number }
  | { type: 'protocol.violated' }
  | { type: 'socket.closed'; code: number | undefined }
  /** Sent at start: the process of this session has ended. */
  | { type: 'process.restarted' };

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

export const agentConnectionMachine = machine.createMachine({
  id: 'agent-connection',
  version: '2',
  description: 'A connection of an agent, from the handshake to the end of its socket.',
  options: { maxIterations: 1_000 },
  context: ({ input }) => ({ key: input.key, deadlineAtMs: input.atMs + 30_000 }),
  entry: 'setDeadline',
  on: {
    'socket.closed': { description: 'The socket has closed.', target: '.deregistered' },
    'process.restarted': { description: 'The process that held the socket has ended.', target: '.deregistered' },
  },
  initial: 'registered',
  states: {
    registered: {
      description: 'Open, and something was received within 45 s; the backend pings after 30 s of silence.',
      on: {
        'deadline.reached': [
          {
            description: 'A deadline that was moved meanwhile is void.',
            guard: {
              type: 'deadlineMoved',
              params: ({ context, event }) => ({
                deadlineAtMs: context.deadlineAtMs,
                reachedAtMs: event.deadlineAtMs,
              }),
            },
          },
          {
            description: 'Nothing was received for 45 s.',
            guard: { type: 'silentFor', params: ({ event }) => ({ silentMs: event.silentMs, limitMs: 45_000 }) },
            target: 'warning',
            actions: [
              { type: 'arm', params: ({ event }) => ({ atMs: event.atMs, delayMs: 60_000 - event.silentMs }) },
              'setDeadline',
            ],
          },
          {
            description: 'Nothing was received for 30 s: the backend pings.',
            guard: { type: 'silentFor', params: ({ event }) => ({ silentMs: event.silentMs, limitMs: 30_000 }) },
            actions: [
              'sendPing',
              { type: 'arm', params: ({ event }) => ({ atMs: event.atMs, delayMs: 45_000 - event.silentMs }) },
              'setDeadline',
            ],
          },
          {
            description: 'Something was received: the deadline counts from it.',
            actions: [
              { type: 'arm', params: ({ event }) => ({ atMs: event.atMs, delayMs: 30_000 - event.silentMs }) },
              'setDeadline',
            ],
          },
        ],
        'write.stuck': {
          description: 'The peer does not read: a frame could not be written for 15 s.',
          target: 'critical.stuck',
          actions: [{ type: 'arm', params: ({ event }) => ({ atMs: event.atMs, delayMs: 10_000 }) }, 'setDeadline'],
        },
        'entity.deleted': {
          description: 'The entity of the agent was deleted.',
          target: 'critical.closing',
          actions: [
            { type: 'closeSocket', params: { code: 1001, reason: 'bye' } },
            { type: 'arm', params: ({ event }) => ({ atMs: event.atMs, delayMs: 10_000 }) },
            'setDeadline',
          ],
        },
        'store.failed': {
          description: 'Events of the connection were lost with a batch.',
          target: 'critical.closing',
          actions: [
            { type: 'closeSocket', params: { code: 1011, reason: 'the store failed' } },
            { type: 'arm', params: ({ event }) => ({ atMs: event.atMs, delayMs: 10_000 }) },
            'setDeadline',
          ],
        },
        'registration.refused': {
          description: 'The agent is new, and the entity limit is reached.',
          target: 'critical.closing',
          actions: [
            { type: 'closeSocket', params: { code: 1008, reason: 'entity limit reached' } },
            { type: 'arm', params: ({ event }) => ({ atMs: event.atMs, delayMs: 10_000 }) },
            'setDeadline',
          ],
        },
        'shutdown.requested': {
          description:
            'The backend stops cleanly: the listener gives the close handshake its time, then cuts the socket.',
          target: 'deregistered',
          actions: { type: 'closeSocket', params: { code: 1001, reason: 'bye' } },
        },
        'protocol.violated': {
          description: 'The peer sent a message without a type line.',
          target: 'deregistered',
          actions: { type: 'closeSocket', params: { code: 1002, reason: 'message has no type line' } },
        },
      },
    },
    warning: {
      description: 'Open, and nothing was received for 45 s.',
      on: {
        'frame.received': {
          description: 'The peer is back.',
          target: 'registered',
          actions: [{ type: 'arm', params: ({ event }) => ({ atMs: event.atMs, delayMs: 30_000 }) }, 'setDeadline'],
        },
        'deadline.reached': [
          {
            description: 'A deadline that was moved meanwhile is void.',
            guard: {
              type: 'deadlineMoved',
              params: ({ context, event }) => ({
                deadlineAtMs: context.deadlineAtMs,
                reachedAtMs: event.deadlineAtMs,
              }),
            },
          },
          {
            description: 'Nothing was received for 60 s: the backend closes the connection.',
            guard: { type: 'silentFor', params: ({ event }) => ({ silentMs: event.silentMs, limitMs: 60_000 }) },
            target: 'critical.closing',
            actions: [
              { type: 'closeSocket', params: { code: 1001, reason: 'bye' } },
              { type: 'arm', params: ({ event }) => ({ atMs: event.atMs, delayMs: 10_000 }) },
              'setDeadline',
            ],
          },
          {
            description: 'Something was received, more than 45 s ago.',
            guard: { type: 'silentFor', params: ({ event }) => ({ silentMs: event.silentMs, limitMs: 45_000 }) },
            actions: [
              { type: 'arm', params: ({ event }) => ({ atMs: event.atMs, delayMs: 60_000 - event.silentMs }) },
              'setDeadline',
            ],
          },
          {
            description: 'Something was received within 45 s.',
            target: 'registered',
            actions: [
              { type: 'arm', params: ({ event }) => ({ atMs: event.atMs, delayMs: 30_000 - event.silentMs }) },
              'setDeadline',
            ],
          },
        ],
        'write.stuck': {
          description: 'The peer does not read: a frame could not be written for 15 s.',
          target: 'critical.stuck',
          actions: [{ type: 'arm', params: ({ event }) => ({ atMs: event.atMs, delayMs: 10_000 }) }, 'setDeadline'],
        },
        'entity.deleted': {
          description: 'The entity of the agent was deleted.',
          target: 'critical.closing',
          actions: [
            { type: 'closeSocket', params: { code: 1001, reason: 'bye' } },
            { type: 'arm', params: ({ event }) => ({ atMs: event.atMs, delayMs: 10_000 }) },
            'setDeadline',
          ],
        },
        'store.failed': {
          description: 'Events of the connection were lost with a batch.',
          target: 'critical.closing',
          actions: [
            { type: 'closeSocket', params: { code: 1011, reason: 'the store failed' } },
            { type: 'arm', params: ({ event }) => ({ atMs: event.atMs, delayMs: 10_000 }) },
            'setDeadline',
          ],
        },
        'registration.refused': {
          description: 'The agent is new, and the entity limit is reached.',
          target: 'critical.closing',
          actions: [
            { type: 'closeSocket', params: { code: 1008, reason: 'entity limit reached' } },
            { type: 'arm', params: ({ event }) => ({ atMs: event.atMs, delayMs: 10_000 }) },
            'setDeadline',
          ],
        },
        'shutdown.requested': {
          description:
            'The backend stops cleanly: the listener gives the close handshake its time, then cuts the socket.',
          target: 'deregistered',
          actions: { type: 'closeSocket', params: { code: 1001, reason: 'bye' } },
        },
        'protocol.violated': {
          description: 'The peer sent a message without a type line.',
          target: 'deregistered',
          actions: { type: 'closeSocket', params: { code: 1002, reason: 'message has no type line' } },
        },
      },
    },
    critical: {
      description: 'The connection ends: its socket is cut after 10 s if it has not closed by then.',
      initial: 'closing',
      states: {
        closing: { description: 'A close frame was sent, and the peer has not answered it.' },
        stuck: { description: 'The peer does not read, so that no close frame can reach it.' },
      },
      on: {
        'deadline.reached': [
          {
            description: 'A deadline that was moved meanwhile is void.',
            guard: {
              type: 'deadlineMoved',
              params: ({ context, event }) => ({
                deadlineAtMs: context.deadlineAtMs,
                reachedAtMs: event.deadlineAtMs,
              }),
            },
          },
          { description: 'The time is over.', target: 'deregistered', actions: 'terminateSocket' },
        ],
      },
    },
    deregistered: { type: 'final', description: 'The connection is over.', entry: 'clearDeadline' },
  },
});
