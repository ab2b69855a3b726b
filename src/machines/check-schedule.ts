import { assign, setup } from 'xstate';
import { notProvided } from './not-provided.ts';

export interface ScheduleContext {
  /** `<namespace>/<check>` */
  key: string;
  intervalMs: number;
  /** Unix ms, on the grid of the first tick. */
  nextTickAtMs: number;
  /** Unix ms of the last tick that an agent was asked at. */
  lastRunAtMs: number | undefined;
  lastSkip: SkippedTick | undefined;
}

/** A tick that asked nobody, and why. */
export interface SkippedTick {
  /** Unix ms. */
  atMs: number;
  reason: 'not published' | 'no agents';
}

interface Timing {
  intervalMs: number;
  firstTickAtMs: number;
}

export interface ScheduleInput extends Timing {
  key: string;
}

export type ScheduleEvent =
  | ({ type: 'schedule.changed' } & Timing)
  | { type: 'deadline.reached'; deadlineAtMs: number; atMs: number; published: boolean }
  /** The request of a tick has gone out to so many sessions. */
  | { type: 'request.sent'; atMs: number; sessions: number }
  /** Changes nothing: who asks gets the context. */
  | { type: 'schedule.asked' }
  | { type: 'check.deleted' };

const machine = setup({
  types: { context: {} as ScheduleContext, input: {} as ScheduleInput, events: {} as ScheduleEvent },
  actions: {
    rephase: assign((_, { intervalMs, firstTickAtMs }: Timing) => ({ intervalMs, nextTickAtMs: firstTickAtMs })),
    advance: assign(({ context }, { atMs }: { atMs: number }) => ({
      nextTickAtMs: nextOnGrid(context, atMs),
    })),
    markRun: assign((_, { atMs }: { atMs: number }) => ({ lastRunAtMs: atMs })),
    markSkip: assign((_, lastSkip: SkippedTick) => ({ lastSkip })),
    setDeadline: notProvided('setDeadline'),
    clearDeadline: notProvided('clearDeadline'),
    requestCheck: notProvided('requestCheck'),
  },
  guards: {
    deadlineMoved: (_, { deadlineAtMs, reachedAtMs }: { deadlineAtMs: number; reachedAtMs: number }) =>
      deadlineAtMs !== reachedAtMs,
    published: (_, { published }: { published: boolean }) => published,
    reachedAnyone: (_, { sessions }: { sessions: number }) => sessions > 0,
  },
});

/** Grid points that have passed are skipped, never made up for. */
function nextOnGrid({ nextTickAtMs, intervalMs }: ScheduleContext, atMs: number): number {
  const passed = Math.floor(Math.max(0, atMs - nextTickAtMs) / intervalMs) + 1;
  return nextTickAtMs + passed * intervalMs;
}

/** When a check is due. It ticks on its grid; what is not published passes without a request. */
export const checkScheduleMachine = machine.createMachine({
  id: 'check-schedule',
  version: '1',
  options: { maxIterations: 1_000 },
  context: ({ input }) => ({
    key: input.key,
    intervalMs: input.intervalMs,
    nextTickAtMs: input.firstTickAtMs,
    lastRunAtMs: undefined,
    lastSkip: undefined,
  }),
  initial: 'scheduled',
  states: {
    scheduled: {
      entry: 'setDeadline',
      on: {
        'schedule.changed': {
          target: 'scheduled',
          reenter: true,
          actions: {
            type: 'rephase',
            params: ({ event: { intervalMs, firstTickAtMs } }) => ({ intervalMs, firstTickAtMs }),
          },
        },
        'deadline.reached': [
          {
            guard: {
              type: 'deadlineMoved',
              params: ({ context, event }) => ({
                deadlineAtMs: context.nextTickAtMs,
                reachedAtMs: event.deadlineAtMs,
              }),
            },
          },
          {
            guard: { type: 'published', params: ({ event }) => ({ published: event.published }) },
            target: 'scheduled',
            reenter: true,
            actions: [{ type: 'advance', params: ({ event }) => ({ atMs: event.atMs }) }, 'requestCheck'],
          },
          {
            target: 'scheduled',
            reenter: true,
            actions: [
              { type: 'advance', params: ({ event }) => ({ atMs: event.atMs }) },
              { type: 'markSkip', params: ({ event }) => ({ atMs: event.atMs, reason: 'not published' }) },
            ],
          },
        ],
        'request.sent': [
          {
            guard: { type: 'reachedAnyone', params: ({ event }) => ({ sessions: event.sessions }) },
            actions: { type: 'markRun', params: ({ event }) => ({ atMs: event.atMs }) },
          },
          { actions: { type: 'markSkip', params: ({ event }) => ({ atMs: event.atMs, reason: 'no agents' }) } },
        ],
        'schedule.asked': {},
        'check.deleted': 'removed',
      },
    },
    removed: { type: 'final', entry: 'clearDeadline' },
  },
});
