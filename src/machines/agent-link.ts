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
  /** False for an agent that manages its own entity. */
  readonly waitsForConfig: boolean;
}

/** A connection that lasted this long, or a quarter of the longest wait, ends the series: the next attempt starts at once. */
const SETTLED_MS = 10_000;

interface Context {
  settings: LinkSettings;
  /** The next wait, before it is capped. */
  nextWaitMs: number;
  waitMs: number;
  /** Monotonic. */
  connectedAtMs: number;
  /** The time after which the agent changes to the next backend. */
  sessionMs: number;
}

/** `jitter` is uniform in [0, 1), `atMs` is monotonic. */
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

/** Returns the next wait of the series. After a refusal with status 429 it is twice as long. */
function lengthen({ settings: { retry }, nextWaitMs }: Context, { jitter, httpStatus }: Failure): Partial<Context> {
  const factor = httpStatus === TOO_MANY_REQUESTS ? 2 : 1;
  const waitMs = Math.min(Math.max(nextWaitMs, retry.minMs * factor), retry.maxMs * factor);
  return { waitMs, nextWaitMs: waitMs * retry.multiplier * factor * (1 + jitter) };
}

/** Returns a time between half of the longest time and all of it. */
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
    lastedLongEnough: (_, { lastedMs, longestWaitMs }: { lastedMs: number; longestWaitMs: number }) =>
      lastedMs >= Math.min(SETTLED_MS, longestWaitMs / 4),
    needsNoConfig: (_, { waitsForConfig }: { waitsForConfig: boolean }) => !waitsForConfig,
  },
  delays: {
    handshakeTimeout: ({ context }) => context.settings.handshakeTimeoutMs,
    configWait: CONFIG_WAIT_MS,
    sessionEnd: ({ context }) => context.sessionMs,
    wait: ({ context }) => context.waitMs,
  },
});

/** The connection of an agent to its backends: one attempt after another until the agent stops. It has no key, hence `after`. */
export const agentLinkMachine = agentLink.createMachine({
  id: 'agent-link',
  version: '1',
  description: 'The connection of an agent to its backends: one attempt after another until the agent stops.',
  options: { maxIterations: 1_000 },
  context: ({ input }) => ({
    settings: input,
    nextWaitMs: input.retry.minMs,
    waitMs: 0,
    connectedAtMs: 0,
    sessionMs: Infinity,
  }),
  initial: 'attempting',
  states: {
    attempting: {
      description: 'An attempt to connect is under way.',
      entry: 'openSocket',
      on: {
        'attempt.failed': {
          description: 'The attempt failed, or was abandoned: the next one waits.',
          target: 'backingOff',
          actions: {
            type: 'lengthenWait',
            params: ({ event }) => ({ jitter: event.jitter, httpStatus: event.httpStatus }),
          },
        },
        'handshake.accepted': {
          description: 'The backend accepted the agent.',
          target: 'connected',
          actions: { type: 'noteConnected', params: ({ event }) => ({ atMs: event.atMs, jitter: event.jitter }) },
        },
        'stop.requested': { description: 'The agent stops.', target: 'stopped', actions: 'abandonSocket' },
      },
      after: {
        handshakeTimeout: {
          description: 'The handshake took too long.',
          target: '.abandoned',
          actions: 'abandonSocket',
        },
      },
      initial: 'connecting',
      states: {
        connecting: {
          description: 'The socket is being opened.',
          on: { 'socket.connected': { description: 'The socket is open.', target: 'handshake' } },
        },
        handshake: { description: 'The socket is open, and the backend has not answered the handshake.' },
        abandoned: { description: 'The socket was cut, and has not reported its end.' },
      },
    },
    connected: {
      description: 'The agent has a session with a backend.',
      entry: 'beginSession',
      on: {
        'socket.closed': [
          {
            description: 'After a session that lasted, the next attempt starts at once.',
            guard: {
              type: 'lastedLongEnough',
              params: ({ context, event }) => ({
                lastedMs: event.atMs - context.connectedAtMs,
                longestWaitMs: context.settings.retry.maxMs,
              }),
            },
            target: 'attempting',
            actions: 'beginSeries',
          },
          {
            description: 'After a short session the next attempt waits.',
            target: 'backingOff',
            actions: {
              type: 'lengthenWait',
              params: ({ event }) => ({ jitter: event.jitter, httpStatus: undefined }),
            },
          },
        ],
        'stop.requested': { description: 'The agent stops.', target: 'stopped', actions: 'closeSocket' },
      },
      after: {
        sessionEnd: {
          description: 'The longest time with one backend is over.',
          target: '.closing',
          actions: 'closeSocket',
        },
      },
      initial: 'awaitingConfig',
      states: {
        awaitingConfig: {
          description: 'The backend has not sent the configuration of the entity.',
          always: {
            description: 'An agent that manages its own entity does not wait.',
            guard: {
              type: 'needsNoConfig',
              params: ({ context }) => ({ waitsForConfig: context.settings.waitsForConfig }),
            },
            target: 'ready',
          },
          on: { 'config.received': { description: 'The configuration came.', target: 'ready' } },
          after: {
            configWait: {
              description: 'It did not come in 10 s: the local entity is used.',
              target: 'ready',
              actions: 'missConfig',
            },
          },
        },
        ready: { description: 'Keepalives are sent.', entry: 'beginKeepalives', exit: 'endKeepalives' },
        closing: { description: 'The socket is being closed, and has not reported its end.' },
      },
    },
    backingOff: {
      description: 'The next attempt waits.',
      on: { 'stop.requested': { description: 'The agent stops.', target: 'stopped' } },
      after: { wait: { description: 'The wait is over.', target: 'attempting' } },
    },
    stopped: { type: 'final', description: 'The agent has stopped.' },
  },
});
