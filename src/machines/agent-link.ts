import { assign, setup } from 'xstate';
import { notProvided } from './not-provided.ts';

const HANDSHAKE_TIMEOUT_MS = 15_000;
const CONFIG_WAIT_MS = 10_000;
const TOO_MANY_REQUESTS = 429;

/** `minMs` is the first wait of a series, `maxMs` the longest. */
export interface RetrySeries {
  minMs: number;
  maxMs: number;
  multiplier: number;
}

/** A connection that lasted this long ends the series: the next attempt comes at once. */
const SETTLED_MS = 10_000;

interface Context {
  retry: RetrySeries;
  /** Before the next wait is capped. */
  nextWaitMs: number;
  waitMs: number;
  /** Monotonic. */
  connectedAtMs: number;
}

/** `jitter` is uniform in [0, 1), `atMs` monotonic. */
type Event =
  | { type: 'socket.connected' }
  | { type: 'handshake.accepted'; atMs: number }
  | { type: 'attempt.failed'; jitter: number; httpStatus?: number | undefined }
  | { type: 'config.received' }
  | { type: 'socket.closed'; atMs: number; jitter: number }
  | { type: 'stop.requested' };

interface Failure {
  jitter: number;
  httpStatus: number | undefined;
}

/** The next wait of the series; a backend that has too many clients gets twice the time. */
function lengthen({ retry, nextWaitMs }: Context, { jitter, httpStatus }: Failure): Partial<Context> {
  const patience = httpStatus === TOO_MANY_REQUESTS ? 2 : 1;
  const waitMs = Math.min(Math.max(nextWaitMs, retry.minMs * patience), retry.maxMs * patience);
  return { waitMs, nextWaitMs: waitMs * retry.multiplier * patience * (1 + jitter) };
}

const agentLink = setup({
  types: {
    context: {} as Context,
    events: {} as Event,
    input: {} as RetrySeries,
  },
  actions: {
    openSocket: notProvided('openSocket'),
    abandonSocket: notProvided('abandonSocket'),
    closeSocket: notProvided('closeSocket'),
    beginSession: notProvided('beginSession'),
    missConfig: notProvided('missConfig'),
    beginKeepalives: notProvided('beginKeepalives'),
    endKeepalives: notProvided('endKeepalives'),
    noteConnected: assign((_, { atMs }: { atMs: number }) => ({ connectedAtMs: atMs })),
    lengthenWait: assign(({ context }, failure: Failure) => lengthen(context, failure)),
    beginSeries: assign(({ context }) => ({ nextWaitMs: context.retry.minMs })),
  },
  guards: {
    lastedLongEnough: (_, { lastedMs, settledMs }: { lastedMs: number; settledMs: number }) => lastedMs >= settledMs,
  },
  delays: {
    handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
    configWait: CONFIG_WAIT_MS,
    wait: ({ context }) => context.waitMs,
  },
});

/** The agent's way to a backend and back: one attempt after another, for ever. A singleton, hence `after`. */
export const agentLinkMachine = agentLink.createMachine({
  id: 'agentLink',
  initial: 'attempting',
  context: ({ input }) => ({ retry: input, nextWaitMs: input.minMs, waitMs: 0, connectedAtMs: 0 }),
  states: {
    attempting: {
      entry: 'openSocket',
      initial: 'connecting',
      // An abandoned socket reports `attempt.failed` like any other.
      after: { handshakeTimeout: { actions: 'abandonSocket' } },
      on: {
        'attempt.failed': {
          target: 'backingOff',
          actions: {
            type: 'lengthenWait',
            params: ({ event }) => ({ jitter: event.jitter, httpStatus: event.httpStatus }),
          },
        },
        'handshake.accepted': {
          target: 'connected',
          actions: { type: 'noteConnected', params: ({ event }) => ({ atMs: event.atMs }) },
        },
        'stop.requested': { target: 'stopped', actions: 'abandonSocket' },
      },
      states: {
        connecting: { on: { 'socket.connected': 'handshake' } },
        handshake: {},
      },
    },
    connected: {
      entry: 'beginSession',
      initial: 'awaitingConfig',
      on: {
        'socket.closed': [
          {
            guard: {
              type: 'lastedLongEnough',
              params: ({ context, event }) => ({
                lastedMs: event.atMs - context.connectedAtMs,
                settledMs: Math.min(SETTLED_MS, context.retry.maxMs / 4),
              }),
            },
            target: 'attempting',
            actions: 'beginSeries',
          },
          {
            target: 'backingOff',
            actions: { type: 'lengthenWait', params: ({ event }) => ({ jitter: event.jitter, httpStatus: undefined }) },
          },
        ],
        'stop.requested': { target: 'stopped', actions: 'closeSocket' },
      },
      states: {
        awaitingConfig: {
          on: { 'config.received': 'ready' },
          after: { configWait: { target: 'ready', actions: 'missConfig' } },
        },
        ready: { entry: 'beginKeepalives', exit: 'endKeepalives' },
      },
    },
    backingOff: {
      after: { wait: 'attempting' },
      on: { 'stop.requested': 'stopped' },
    },
    stopped: { type: 'final' },
  },
});
