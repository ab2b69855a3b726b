import { type Static, Type } from 'typebox';
import type { Excerpt, Explanation, RecordedChange, StateAt } from '../../explain/explanation.ts';
import { sentencesOf } from '../../explain/sentences.ts';
import { nullable } from '../openapi/descriptions.ts';
import { NotificationSchema, shown as shownNotification } from './notification-schema.ts';

const MS = 'Unix seconds with millisecond precision';
const Time = Type.Number({ description: MS });

const excerpt = <T extends Parameters<typeof Type.Array>[0]>(item: T, description: string) =>
  Type.Object(
    { items: Type.Array(item), more: Type.Boolean({ description: 'Whether there are further ones' }) },
    { description },
  );

const StateSchema = Type.Object({
  kind: Type.Enum(['recorded', 'deleted', 'absent', 'unrecorded'], {
    description: '`absent`: no event was stored yet; `unrecorded`: the moment is before the record begins',
  }),
  state: nullable(Type.Enum(['passing', 'failing', 'flapping'])),
  status: nullable(Type.Integer()),
  since: nullable(Type.Number({ description: `The first result with the status: ${MS}` })),
  problem_since: nullable(Type.Number({ description: `The first result of the problem: ${MS}; null without one` })),
  occurrences_min: nullable(Type.Integer({ description: 'Results in a row with the status, at least' })),
  occurrences_max: nullable(Type.Integer({ description: 'The same, at most; null if it is not on record' })),
  complete: Type.Boolean({ description: 'Whether all changes since the beginning of the problem were read' }),
  next_at: nullable(Type.Number({ description: `The next change after the moment: ${MS}` })),
  record_begins_at: nullable(
    Type.Number({ description: `The first change on record, if the moment is before it: ${MS}` }),
  ),
});

const ChangeSchema = Type.Object({
  seq: Type.Integer({ description: 'Number of the ledger entry' }),
  at: Time,
  event: Type.String(),
  state: nullable(Type.String()),
  status: nullable(Type.Integer()),
  previous_status: nullable(Type.Integer()),
  occurrences: nullable(Type.Integer()),
  previous_occurrences: nullable(Type.Integer()),
  silenced: Type.Array(Type.String()),
  output: Type.String({ description: 'Redacted beginning of the output' }),
  cause: Type.Object({}, { description: 'One of eventId, deadlineAtMs, user, session, backend and restore' }),
  overdue: nullable(
    Type.Object(
      {
        since: Time,
        limit: Type.Number({ description: 'Seconds' }),
        blind: nullable(Type.Number({ description: 'Seconds' })),
      },
      { description: 'What was missing for an alert of the backend: the last receipt and the time limit' },
    ),
  ),
});

const SilenceSchema = Type.Object({
  name: Type.String(),
  creator: nullable(Type.String()),
  reason: nullable(Type.String()),
  begin: nullable(Type.Integer({ description: 'Unix seconds' })),
  expire_at: nullable(Type.Integer({ description: 'Unix seconds; 0 = no end' })),
  ended: nullable(Type.Object({ at: Time, event: Type.String(), cause: Type.Object({}) })),
});

const WatchingSchema = Type.Object({
  since: Type.Number({ description: `The beginning of the time that this covers: ${MS}` }),
  connections: excerpt(
    Type.Object({
      session: Type.String(),
      opened_at: Time,
      closed_at: nullable(Time),
      closed_by: nullable(Type.String()),
      state: Type.String(),
    }),
    'Connections of the agent, newest first',
  ),
  blind: excerpt(
    Type.Object({ begin: Time, end: Time, event: Type.String({ description: 'What ended it' }) }),
    'When the backend received nothing',
  ),
  ticks: nullable(
    excerpt(
      Type.Object({
        outcome: Type.Enum(['ran', 'skipped', 'lost']),
        reason: nullable(Type.String()),
        from: Time,
        to: Time,
        count: nullable(Type.Integer()),
      }),
      'Ticks of the schedule for the entity; null if none are on record',
    ),
  ),
});

export const ExplanationSchema = Type.Object(
  {
    namespace: Type.String(),
    entity: Type.String(),
    check: Type.String(),
    at: Time,
    sentences: Type.Array(Type.String()),
    state: StateSchema,
    changes: excerpt(ChangeSchema, 'Changes of the state, of the status or of the silences, newest first'),
    due: nullable(
      Type.Object(
        { what: Type.Enum(['result', 'keepalive']), since: Time, limit: Type.Number({ description: 'Seconds' }) },
        { description: 'The deadline by which something must be received' },
      ),
    ),
    silences: excerpt(SilenceSchema, 'Silences that applied to the last change'),
    handlers: excerpt(
      Type.Object({
        notification: NotificationSchema,
        later: Type.Boolean({ description: 'Whether it was still waiting for its run at the moment' }),
      }),
      'Outcomes of handlers, newest first',
    ),
    watching: WatchingSchema,
  },
  { $id: 'mon/v1.Explanation' },
);

type Shown = Static<typeof ExplanationSchema>;

const seconds = (ms: number): number => ms / 1_000;
const secondsOrNull = (ms: number | undefined): number | null => (ms === undefined ? null : ms / 1_000);

function excerptOf<T, U>({ items, hasMore }: Excerpt<T>, show: (item: T) => U): { items: U[]; more: boolean } {
  return { items: items.map(show), more: hasMore };
}

/** An explanation as the API shows it. */
export function shownExplanation(explanation: Explanation): Shown {
  const { namespace, entity, check, atMs, state, due, watching } = explanation;
  return {
    namespace,
    entity,
    check,
    at: seconds(atMs),
    sentences: sentencesOf(explanation),
    state: shownState(state),
    changes: excerptOf(explanation.changes, shownChange),
    due: due === undefined ? null : { what: due.what, since: seconds(due.sinceMs), limit: seconds(due.limitMs) },
    silences: excerptOf(explanation.silences, ({ name, creator, reason, beginS, expireAtS, ended }) => ({
      name,
      creator: creator ?? null,
      reason: reason ?? null,
      begin: beginS ?? null,
      expire_at: expireAtS ?? null,
      ended: ended === undefined ? null : { at: seconds(ended.atMs), event: ended.event, cause: ended.cause },
    })),
    handlers: excerptOf(explanation.handlers, ({ notification, isLater }) => ({
      notification: shownNotification({ namespace, entity, check, notification }),
      later: isLater,
    })),
    watching: shownWatching(watching),
  };
}

function shownState(state: StateAt): Shown['state'] {
  const none = {
    state: null,
    status: null,
    since: null,
    problem_since: null,
    occurrences_min: null,
    occurrences_max: null,
    complete: true,
    next_at: null,
    record_begins_at: null,
  };
  if (state.kind === 'deleted') {
    return { ...none, kind: state.kind, since: seconds(state.change.atMs), next_at: secondsOrNull(state.nextAtMs) };
  }
  if (state.kind !== 'recorded') return { ...none, kind: state.kind, record_begins_at: seconds(state.beginsAtMs) };
  return {
    kind: state.kind,
    state: state.state,
    status: state.status,
    since: seconds(state.begin.atMs),
    problem_since: secondsOrNull(state.problem?.atMs),
    occurrences_min: state.occurrences.least,
    occurrences_max: state.occurrences.most ?? null,
    complete: !state.isCut,
    next_at: secondsOrNull(state.next?.atMs),
    record_begins_at: null,
  };
}

function shownChange(change: RecordedChange): Shown['changes']['items'][number] {
  const { seq, atMs, event, output, cause, overdue } = change;
  return {
    seq,
    at: seconds(atMs),
    event,
    state: change.state ?? null,
    status: change.status ?? null,
    previous_status: change.previousStatus ?? null,
    occurrences: change.occurrences ?? null,
    previous_occurrences: change.previousOccurrences ?? null,
    silenced: [...change.silenced],
    output,
    cause,
    overdue:
      overdue === undefined
        ? null
        : { since: seconds(overdue.sinceMs), limit: seconds(overdue.limitMs), blind: secondsOrNull(overdue.blindMs) },
  };
}

function shownWatching({ fromMs, connections, blind, ticks }: Explanation['watching']): Shown['watching'] {
  return {
    since: seconds(fromMs),
    connections: excerptOf(connections, ({ session, openedAtMs, closedAtMs, closedBy, state }) => ({
      session,
      opened_at: seconds(openedAtMs),
      closed_at: secondsOrNull(closedAtMs),
      closed_by: closedBy ?? null,
      state,
    })),
    blind: excerptOf(blind, ({ beginMs, endMs, event }) => ({ begin: seconds(beginMs), end: seconds(endMs), event })),
    ticks:
      ticks === undefined
        ? null
        : excerptOf(ticks, ({ outcome, reason, fromMs: from, toMs: to, count }) => ({
            outcome,
            reason: reason ?? null,
            from: seconds(from),
            to: seconds(to),
            count: count ?? null,
          })),
  };
}
