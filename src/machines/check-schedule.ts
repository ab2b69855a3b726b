import { assign, setup } from 'xstate';
import { notProvided } from './not-provided.ts';

export type SkipReason =
  | 'not published'
  | 'subdued'
  | 'no agents'
  | 'no matching entities'
  | 'entity attributes failed'
  | 'tokens not substituted'
  | 'earlier runs not over'
  | 'check changed';

/** A tick that asked nobody, and why. */
export interface SkippedTick {
  /** Unix ms. */
  atMs: number;
  reason: SkipReason;
  /** Where the reason alone does not say it. */
  detail?: string | undefined;
}

export interface ScheduleContext {
  /** `<namespace>/<check>` */
  key: string;
  /** Unix ms; undefined where an evicted schedule cannot know it: then it is whatever deadline comes. */
  nextTickAtMs: number | undefined;
  /** Unix ms of the last tick that an agent was asked at. */
  lastRunAtMs: number | undefined;
  lastSkip: SkippedTick | undefined;
  /** Why ticks ask nobody at present. */
  skipping: SkipReason | undefined;
  /** The rings of the check had no members when it was last looked: the first one begins its schedule anew. */
  waitsForMembers: boolean;
}

export interface ScheduleInput {
  key: string;
  firstTickAtMs: number;
  waitsForMembers: boolean;
}

export type ScheduleEvent =
  | { type: 'schedule.changed'; firstTickAtMs: number }
  /** A ring of the check that was empty has a member. */
  | { type: 'ring.joined'; firstTickAtMs: number }
  | { type: 'deadline.reached'; deadlineAtMs: number; atMs: number; nextTickAtMs: number; skip: SkipReason | undefined }
  /** The request of a tick has gone out to so many sessions. */
  | { type: 'request.sent'; atMs: number; sessions: number }
  /** One of several requests of a tick could not be made. */
  | ({ type: 'request.failed' } & SkippedTick)
  /** What was asked for at a tick came to nothing. */
  | ({ type: 'tick.skipped' } & SkippedTick)
  /** Changes nothing: who asks gets the context. */
  | { type: 'schedule.asked' }
  | { type: 'check.deleted' };

const machine = setup({
  types: { context: {} as ScheduleContext, input: {} as ScheduleInput, events: {} as ScheduleEvent },
  actions: {
    setNextTick: assign((_, { nextTickAtMs }: { nextTickAtMs: number }) => ({ nextTickAtMs })),
    markRun: assign((_, { atMs }: { atMs: number }) => ({
      lastRunAtMs: atMs,
      skipping: undefined,
      waitsForMembers: false,
    })),
    markSkip: assign((_, lastSkip: SkippedTick) => ({
      lastSkip,
      skipping: lastSkip.reason,
      waitsForMembers: lastSkip.reason === 'no agents',
    })),
    markFailure: assign((_, lastSkip: SkippedTick) => ({ lastSkip })),
    stopWaiting: assign({ waitsForMembers: false }),
    setDeadline: notProvided('setDeadline'),
    clearDeadline: notProvided('clearDeadline'),
    requestCheck: notProvided('requestCheck'),
    /** The turns of a round-robin check pass also while nobody is asked. */
    passTurns: notProvided('passTurns'),
    /** Puts on record that ticks ask nobody from now on, or for another reason than before. */
    explainSkip: notProvided<SkippedTick & { isNew: boolean }>('explainSkip'),
    /** Puts on record that ticks ask somebody again. */
    explainRun: notProvided<{ skipped: SkipReason | undefined }>('explainRun'),
  },
  guards: {
    deadlineMoved: (_, { expected, reachedAtMs }: { expected: number | undefined; reachedAtMs: number }) =>
      expected !== undefined && expected !== reachedAtMs,
    due: (_, { skip }: { skip: SkipReason | undefined }) => skip === undefined,
    reachedAnyone: (_, { sessions }: { sessions: number }) => sessions > 0,
    waitsForMembers: (_, { waitsForMembers }: { waitsForMembers: boolean }) => waitsForMembers,
  },
});

interface Skipping {
  context: ScheduleContext;
  event: SkippedTick;
}

const skipOf = ({ event: { atMs, reason, detail } }: Pick<Skipping, 'event'>): SkippedTick => ({
  atMs,
  reason,
  detail,
});
const newSkipOf = ({ context, event }: Skipping) => ({
  ...skipOf({ event }),
  isNew: context.skipping !== event.reason,
});
const unheard = (atMs: number): SkippedTick => ({ atMs, reason: 'no agents' });

/** When a check is due, and what became of its ticks. It ticks on; what is not to be published passes without a request. */
export const checkScheduleMachine = machine.createMachine({
  id: 'check-schedule',
  version: '2',
  options: { maxIterations: 1_000 },
  context: ({ input }) => ({
    key: input.key,
    nextTickAtMs: input.firstTickAtMs,
    lastRunAtMs: undefined,
    lastSkip: undefined,
    skipping: undefined,
    waitsForMembers: input.waitsForMembers,
  }),
  initial: 'scheduled',
  states: {
    scheduled: {
      entry: 'setDeadline',
      on: {
        'schedule.changed': {
          target: 'scheduled',
          reenter: true,
          actions: { type: 'setNextTick', params: ({ event }) => ({ nextTickAtMs: event.firstTickAtMs }) },
        },
        'ring.joined': {
          guard: { type: 'waitsForMembers', params: ({ context: { waitsForMembers } }) => ({ waitsForMembers }) },
          target: 'scheduled',
          reenter: true,
          actions: [
            { type: 'setNextTick', params: ({ event }) => ({ nextTickAtMs: event.firstTickAtMs }) },
            'stopWaiting',
          ],
        },
        'deadline.reached': [
          {
            guard: {
              type: 'deadlineMoved',
              params: ({ context, event }) => ({ expected: context.nextTickAtMs, reachedAtMs: event.deadlineAtMs }),
            },
          },
          {
            guard: { type: 'due', params: ({ event: { skip } }) => ({ skip }) },
            target: 'scheduled',
            reenter: true,
            actions: [
              { type: 'setNextTick', params: ({ event: { nextTickAtMs } }) => ({ nextTickAtMs }) },
              'requestCheck',
            ],
          },
          {
            target: 'scheduled',
            reenter: true,
            actions: [
              { type: 'setNextTick', params: ({ event: { nextTickAtMs } }) => ({ nextTickAtMs }) },
              'passTurns',
              { type: 'explainSkip', params: ({ context, event }) => newSkipOf({ context, event: passedTick(event) }) },
              { type: 'markSkip', params: ({ event }) => passedTick(event) },
            ],
          },
        ],
        'request.sent': [
          {
            guard: { type: 'reachedAnyone', params: ({ event }) => ({ sessions: event.sessions }) },
            actions: [
              { type: 'explainRun', params: ({ context }) => ({ skipped: context.skipping }) },
              { type: 'markRun', params: ({ event }) => ({ atMs: event.atMs }) },
            ],
          },
          {
            actions: [
              {
                type: 'explainSkip',
                params: ({ context, event }) => newSkipOf({ context, event: unheard(event.atMs) }),
              },
              { type: 'markSkip', params: ({ event }) => unheard(event.atMs) },
            ],
          },
        ],
        'request.failed': { actions: { type: 'markFailure', params: skipOf } },
        'tick.skipped': {
          actions: [
            { type: 'explainSkip', params: newSkipOf },
            { type: 'markSkip', params: skipOf },
          ],
        },
        'schedule.asked': {},
        'check.deleted': 'removed',
      },
    },
    removed: { type: 'final', entry: 'clearDeadline' },
  },
});

/** A tick that reaches this is not due. */
function passedTick({ atMs, skip = 'not published' }: { atMs: number; skip: SkipReason | undefined }): SkippedTick {
  return { atMs, reason: skip };
}
