import { assign, setup } from 'xstate';
import { notProvided } from './not-provided.ts';

export type SkipReason =
  | 'not published'
  | 'subdued'
  | 'no agents'
  | 'no matching entities'
  | 'entity attributes failed'
  | 'tokens not substituted'
  | 'too long'
  | 'secrets not resolved'
  | 'earlier runs not over'
  | 'check changed';

/** A tick at which no agent was asked, and the reason. */
export interface SkippedTick {
  /** Unix ms. */
  atMs: number;
  reason: SkipReason;
  /** Additional information for the reason. */
  detail?: string | undefined;
}

export interface ScheduleContext {
  /** `<namespace>/<check>` */
  key: string;
  /** Unix ms; undefined in an evicted schedule whose deadline is being decided. It accepts any deadline. */
  nextTickAtMs: number | undefined;
  /** The last tick at which an agent was asked, Unix ms. */
  lastRunAtMs: number | undefined;
  lastSkip: SkippedTick | undefined;
  /** Why the last tick asked no agent; undefined when it asked one, or before the first tick. */
  skipReason: SkipReason | undefined;
}

export interface ScheduleInput {
  key: string;
  firstTickAtMs: number;
}

export type ScheduleEvent =
  | { type: 'schedule.changed'; firstTickAtMs: number }
  /** The round-robin check is new. Its first tick shows whether one of its rings has a member. */
  | { type: 'agents.awaited' }
  /** A ring of the check that was empty has a member. */
  | { type: 'ring.joined'; firstTickAtMs: number }
  | {
      type: 'deadline.reached';
      deadlineAtMs: number;
      atMs: number;
      nextTickAtMs: number;
      /** Why this tick asks no agent. */
      skip: 'not published' | 'subdued' | undefined;
    }
  /** The request of a tick was sent to this many sessions. */
  | { type: 'request.sent'; atMs: number; sessions: number }
  /** One of several requests of a tick could not be made. */
  | ({ type: 'request.failed' } & SkippedTick)
  /** No agent was asked at a tick that was due. */
  | ({ type: 'tick.skipped' } & SkippedTick)
  | { type: 'check.deleted' };

const machine = setup({
  types: { context: {} as ScheduleContext, input: {} as ScheduleInput, events: {} as ScheduleEvent },
  actions: {
    setNextTick: assign((_, { nextTickAtMs }: { nextTickAtMs: number }) => ({ nextTickAtMs })),
    markRun: assign((_, { atMs }: { atMs: number }) => ({ lastRunAtMs: atMs, skipReason: undefined })),
    markSkip: assign((_, { atMs, reason, detail }: SkippedTick) => ({
      lastSkip: { atMs, reason, detail },
      skipReason: reason,
    })),
    markFailure: assign((_, { atMs, reason, detail }: SkippedTick) => ({ lastSkip: { atMs, reason, detail } })),
    setDeadline: notProvided('setDeadline'),
    clearDeadline: notProvided('clearDeadline'),
    requestCheck: notProvided('requestCheck'),
    /** Advances the round-robin rings at skipped ticks too. */
    advanceRings: notProvided('advanceRings'),
    /** Records that ticks ask no agent from now on, or for another reason than before. */
    explainSkip: notProvided<SkippedTick & { isNew: boolean }>('explainSkip'),
    /** Records that ticks ask agents again. */
    explainRun: notProvided<{ skipped: SkipReason | undefined }>('explainRun'),
  },
  guards: {
    deadlineMoved: (_, { expected, reachedAtMs }: { expected: number | undefined; reachedAtMs: number }) =>
      expected !== undefined && expected !== reachedAtMs,
    due: (_, { skip }: { skip: SkipReason | undefined }) => skip === undefined,
    reachedAgents: (_, { sessions }: { sessions: number }) => sessions > 0,
    lacksAgents: (_, { reason }: { reason: SkipReason }) => reason === 'no agents',
    hasSkipped: (_, { skipReason }: { skipReason: SkipReason | undefined }) => skipReason !== undefined,
  },
});

/** The schedule of a check: when its next tick is due, and the outcome of the last one. */
export const checkScheduleMachine = machine.createMachine({
  id: 'check-schedule',
  version: '3',
  description: 'The schedule of a check: when its next tick is due, and the outcome of the last one.',
  options: { maxIterations: 1_000 },
  context: ({ input }) => ({
    key: input.key,
    nextTickAtMs: input.firstTickAtMs,
    lastRunAtMs: undefined,
    lastSkip: undefined,
    skipReason: undefined,
  }),
  initial: 'scheduled',
  states: {
    scheduled: {
      description: 'The check exists; its next tick is armed.',
      entry: 'setDeadline',
      on: {
        'schedule.changed': {
          description: 'The interval or cron expression changed: the ticks restart.',
          actions: [
            { type: 'setNextTick', params: ({ event }) => ({ nextTickAtMs: event.firstTickAtMs }) },
            'setDeadline',
          ],
        },
        'deadline.reached': [
          {
            description: 'A deadline that was moved meanwhile is void.',
            guard: {
              type: 'deadlineMoved',
              params: ({ context, event }) => ({ expected: context.nextTickAtMs, reachedAtMs: event.deadlineAtMs }),
            },
          },
          {
            description: 'The tick is due: agents are asked, and the outcome follows as an event.',
            guard: { type: 'due', params: ({ event }) => ({ skip: event.skip }) },
            actions: [
              { type: 'setNextTick', params: ({ event }) => ({ nextTickAtMs: event.nextTickAtMs }) },
              'requestCheck',
              'setDeadline',
            ],
          },
          {
            description: 'The check is not published, or is subdued: the tick asks no agent.',
            target: '.skipping',
            actions: [
              { type: 'setNextTick', params: ({ event }) => ({ nextTickAtMs: event.nextTickAtMs }) },
              'advanceRings',
              {
                type: 'explainSkip',
                params: ({ context, event }) => ({
                  atMs: event.atMs,
                  reason: event.skip ?? 'not published',
                  isNew: context.skipReason !== (event.skip ?? 'not published'),
                }),
              },
              {
                type: 'markSkip',
                params: ({ event }) => ({ atMs: event.atMs, reason: event.skip ?? 'not published' }),
              },
              'setDeadline',
            ],
          },
        ],
        'request.sent': [
          {
            description: 'The request reached agents.',
            guard: { type: 'reachedAgents', params: ({ event }) => ({ sessions: event.sessions }) },
            target: '.running',
            actions: [
              { type: 'explainRun', params: ({ context }) => ({ skipped: context.skipReason }) },
              { type: 'markRun', params: ({ event }) => ({ atMs: event.atMs }) },
            ],
          },
          {
            description: 'No agent with a subscription of the check is connected.',
            target: '.waitingForAgents',
            actions: [
              {
                type: 'explainSkip',
                params: ({ context, event }) => ({
                  atMs: event.atMs,
                  reason: 'no agents',
                  isNew: context.skipReason !== 'no agents',
                }),
              },
              { type: 'markSkip', params: ({ event }) => ({ atMs: event.atMs, reason: 'no agents' }) },
            ],
          },
        ],
        'request.failed': {
          description: 'One of several requests of a tick failed; the others decide the state.',
          actions: { type: 'markFailure', params: ({ event }) => event },
        },
        'tick.skipped': [
          {
            description: 'No ring of the check has a member.',
            guard: { type: 'lacksAgents', params: ({ event }) => ({ reason: event.reason }) },
            target: '.waitingForAgents',
            actions: [
              {
                type: 'explainSkip',
                params: ({ context, event }) => ({
                  atMs: event.atMs,
                  reason: event.reason,
                  detail: event.detail,
                  isNew: context.skipReason !== event.reason,
                }),
              },
              { type: 'markSkip', params: ({ event }) => event },
            ],
          },
          {
            description: 'The tick was due and asked no agent for another reason.',
            target: '.skipping',
            actions: [
              {
                type: 'explainSkip',
                params: ({ context, event }) => ({
                  atMs: event.atMs,
                  reason: event.reason,
                  detail: event.detail,
                  isNew: context.skipReason !== event.reason,
                }),
              },
              { type: 'markSkip', params: ({ event }) => event },
            ],
          },
        ],
        'check.deleted': { description: 'The check was deleted.', target: 'removed' },
      },
      initial: 'running',
      states: {
        running: {
          description: 'The last tick asked agents, or none was due yet.',
          on: {
            'agents.awaited': {
              description: 'A new round-robin check waits for the first member of a ring.',
              target: 'waitingForAgents',
            },
          },
        },
        skipping: { description: 'The last tick asked no agent; the context has the reason.' },
        waitingForAgents: {
          description: 'The check has no agent to ask: the first one that joins a ring of it restarts its ticks.',
          on: {
            'ring.joined': [
              {
                description: 'Earlier ticks asked no agent; the next one does.',
                guard: { type: 'hasSkipped', params: ({ context }) => ({ skipReason: context.skipReason }) },
                target: 'skipping',
                actions: [
                  { type: 'setNextTick', params: ({ event }) => ({ nextTickAtMs: event.firstTickAtMs }) },
                  'setDeadline',
                ],
              },
              {
                description: 'No tick was due before the first member joined.',
                target: 'running',
                actions: [
                  { type: 'setNextTick', params: ({ event }) => ({ nextTickAtMs: event.firstTickAtMs }) },
                  'setDeadline',
                ],
              },
            ],
          },
        },
      },
    },
    removed: { type: 'final', description: 'The check was deleted.', entry: 'clearDeadline' },
  },
});
