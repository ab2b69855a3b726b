import { type Static, Type } from 'typebox';
import type { NextAttempt } from '../../pipeline/redelivery.ts';
import type { StoredNotification } from '../../store/records/stored-notification.ts';
import { OUTCOMES } from '../../store/records/records.ts';
import type { WaitingNotification } from '../../store/waiting-notifications.ts';
import { nullable } from '../openapi/descriptions.ts';
import { WAITING } from './notification-filter.ts';

const TIME = 'Unix seconds with millisecond precision';

export const NotificationSchema = Type.Object(
  {
    id: Type.String({ description: 'UUID; a replayed dead letter keeps it' }),
    entity: Type.String(),
    check: Type.String({ description: 'Empty for metrics without a check' }),
    handler: Type.String(),
    pipeline: nullable(Type.String({ description: 'The pipeline that names the handler; null where the check does' })),
    workflow: nullable(Type.String()),
    nth: Type.Integer({
      description: 'Its number among the runs of an event with this pipeline, workflow and handler',
    }),
    others: Type.Array(Type.String(), {
      description: 'Further handlers that were left out for the same reason; the search by handler finds them too',
    }),
    event_id: nullable(Type.String({ description: 'The event, or the first of several' })),
    outcome: Type.Enum([...OUTCOMES, WAITING]),
    reason: Type.String({
      description: 'Why the event was denied or skipped or the handler failed, or the output of the handler',
    }),
    status: nullable(Type.Integer({ description: 'Exit status of a command' })),
    attempts: nullable(Type.Integer({ description: 'Runs, where they are counted' })),
    count: Type.Integer({ description: 'How many events in a row had this outcome: above 1 only without a run' }),
    decided_at: Type.Number({ description: `Decision on the event, or the first of several: ${TIME}` }),
    at: Type.Number({ description: `Outcome, or that of the last of several: ${TIME}` }),
    duration: Type.Number({ description: 'Seconds' }),
    dead_letter: Type.Boolean({ description: 'Whether the event is kept and can be replayed' }),
    replayed_at: nullable(Type.Number({ description: `When it was replayed: ${TIME}` })),
    replayed_by: nullable(Type.String({ description: 'The user who replayed it' })),
    state: nullable(
      Type.Enum(['waiting', 'retrying'], { description: 'Of what waits: `retrying` after a run that failed' }),
    ),
    next_attempt_at: nullable(Type.Number({ description: `Of what is retrying: ${TIME}` })),
  },
  { $id: 'mon/v1.Notification' },
);

type Shown = Static<typeof NotificationSchema>;

const seconds = (ms: number): number => ms / 1_000;

/** A notification as the API shows it. */
export function shown({ entity, check, notification }: StoredNotification): Shown {
  const { id, handler, outcome, reason, replayedAtMs } = notification;
  return {
    id,
    entity,
    check,
    handler,
    pipeline: notification.pipeline ?? null,
    workflow: notification.workflow ?? null,
    nth: notification.nth ?? 1,
    others: [...(notification.others ?? [])],
    event_id: notification.eventId ?? null,
    outcome,
    reason,
    status: notification.status ?? null,
    attempts: notification.attempts ?? null,
    count: notification.count ?? 1,
    decided_at: seconds(notification.decidedAtMs),
    at: seconds(notification.atMs),
    duration: seconds(notification.durationMs),
    dead_letter: notification.isDeadLetter ?? false,
    replayed_at: replayedAtMs === undefined ? null : seconds(replayedAtMs),
    replayed_by: notification.replayedBy ?? null,
    state: null,
    next_attempt_at: null,
  };
}

/** An entry of the outbox, as the API shows it. */
export function shownWaiting(
  { entity, check, entry, attempts }: WaitingNotification,
  next: NextAttempt | undefined,
): Shown {
  const { notificationId: id, handler, decidedAtMs } = entry;
  return {
    id,
    entity,
    check,
    handler,
    pipeline: entry.pipeline ?? null,
    workflow: entry.workflow ?? null,
    nth: entry.nth ?? 1,
    others: [],
    event_id: entry.event.id,
    outcome: WAITING,
    reason: next?.reason ?? '',
    status: null,
    attempts: attempts?.attempts ?? null,
    count: 1,
    decided_at: seconds(decidedAtMs),
    at: seconds(decidedAtMs),
    duration: 0,
    dead_letter: false,
    replayed_at: null,
    replayed_by: null,
    state: attempts !== undefined || next !== undefined ? 'retrying' : 'waiting',
    next_attempt_at: next === undefined ? null : seconds(next.atMs),
  };
}
