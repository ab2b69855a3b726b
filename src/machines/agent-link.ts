import { assign, setup } from 'xstate';
import { notProvided } from './not-provided.ts';

const CONFIG_WAIT_MS = 10_000;
const TOO_MANY_REQUESTS = 429;

/** `minMs` is the first wait of a series, `maxMs` the longest. */
export interface RetrySeries {
  minMs: number;
  maxMs: number;
  multiplier: number;
}

export interface LinkSettings {
  readonly retry: Readonly<RetrySeries>;
  readonly handshakeTimeoutMs: number;
  /** The longest time with one backend; 0 = no limit. */
  readonly maxSessionMs: number;
  /** False for an agent that knows its entity itself. */
  readonly waitsForConfig: boolean;
}

/** A connection that lasted this long ends the series: the next attempt comes at once. */
const SETTLED_MS = 10_000;

interface Context {
  settings: LinkSettings;
  /** Before the next wait is capped. */
  nextWaitMs: number;
  waitMs: number;
  /** Monotonic. */
  connectedAtMs: number;
  /** Until the agent leaves this backend for the next. */
  sessionMs: number;
}

/** `jitter` is uniform in [0, 1), `atMs` monotonic. */
type Event =
  | { type: 'socket.connected' }
  | { type: 'handshake.accepted'; atMs: number; jitter: number }
  | { type: 'attempt.failed'; jitter: number; httpStatus?: number | undefined }
  | { type: 'config.received' }
  | { type: 'socket.closed'; atMs: number; jitter: number }
  | { type: 'stop.requested' };

interface Failure {
  jitter: number;
  httpStatus: number | undefined;
}

/** The next wait of the series; a backend that has too many clients gets twice the time. */
function lengthen({ settings: { retry }, nextWaitMs }: Context, { jitter, httpStatus }: Failure): Partial<Context> {
  const patience = httpStatus === TOO_MANY_REQUESTS ? 2 : 1;
  const waitMs = Math.min(Math.max(nextWaitMs, retry.minMs * patience), retry.maxMs * patience);
  return { waitMs, nextWaitMs: waitMs * retry.multiplier * patience * (1 + jitter) };
}

/** Above half of the longest time, up to all of it. */
const sessionLength = (maxSessionMs: number, jitter: number): number =>
  maxSessionMs === 0 ? Infinity : maxSessionMs * (1 - jitter / 2);

const agentLink = setup({
  types: {
    context: {} as Context,
    events: {} as Event,
    input: {} as LinkSettings,
  },
  actions: {
    openSocket: notProvided('openSocket'),
    abandonSocket: notProvided('abandonSocket'),
    closeSocket: notProvided('closeSocket'),
    beginSession: notProvided('beginSession'),
    missConfig: notProvided('missConfig'),
    beginKeepalives: notProvided('beginKeepalives'),
    endKeepalives: notProvided('endKeepalives'),
    noteConnected: assign(({ context }, { atMs, jitter }: { atMs: number; jitter: number }) => ({
      connectedAtMs: atMs,
      sessionMs: sessionLength(context.settings.maxSessionMs, jitter),
    })),
    lengthenWait: assign(({ context }, failure: Failure) => lengthen(context, failure)),
    beginSeries: assign(({ context }) => ({ nextWaitMs: context.settings.retry.minMs })),
  },
  guards: {
    lastedLongEnough: (_, { lastedMs, settledMs }: { lastedMs: number; settledMs: number }) => lastedMs >= settledMs,
    needsNoConfig: (_, { waitsForConfig }: { waitsForConfig: boolean }) => !waitsForConfig,
  },
  delays: {
    handshakeTimeout: ({ context }) => context.settings.handshakeTimeoutMs,
    configWait: CONFIG_WAIT_MS,
    sessionEnd: ({ context }) => context.sessionMs,
    wait: ({ context }) => context.waitMs,
  },
});

/** The agent's way to a backend and back: one attempt after another, for ever. A singleton, hence `after`. */
export const agentLinkMachine = agentLink.createMachine({
  id: 'agentLink',
  initial: 'attempting',
  context: ({ input }) => ({
    settings: input,
    nextWaitMs: input.retry.minMs,
    waitMs: 0,
    connectedAtMs: 0,
    sessionMs: Infinity,
  }),
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
          actions: { type: 'noteConnected', params: ({ event }) => ({ atMs: event.atMs, jitter: event.jitter }) },
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
      // Closing reports `socket.closed` like any other end.
      after: { sessionEnd: { actions: 'closeSocket' } },
      on: {
        'socket.closed': [
          {
            guard: {
              type: 'lastedLongEnough',
              params: ({ context, event }) => ({
                lastedMs: event.atMs - context.connectedAtMs,
                settledMs: Math.min(SETTLED_MS, context.settings.retry.maxMs / 4),
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
          always: {
            guard: {
              type: 'needsNoConfig',
              params: ({ context }) => ({ waitsForConfig: context.settings.waitsForConfig }),
            },
            target: 'ready',
          },
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
