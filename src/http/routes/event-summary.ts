import { type Static, Type } from 'typebox';
import type { CheckEvent } from '../../resources/event.ts';
import { redactEvent } from '../../resources/redaction.ts';
import type { Incident } from '../../rules/incident.ts';
import { OUTCOMES } from '../../store/records/records.ts';
import type { Notification } from '../../store/records/records.ts';
import { nullable } from '../openapi/descriptions.ts';

/** A list shows one line of the output. */
const MAX_OUTPUT = 200;

const S = 'Unix seconds';

export const EventSummarySchema = Type.Object(
  {
    namespace: Type.String(),
    entity: Type.String(),
    entity_class: Type.String(),
    check: Type.String(),
    status: Type.Integer({ description: '0 OK, 1 warning, 2 critical, others unknown or custom' }),
    state: Type.String({ description: '`passing`, `failing` or `flapping`' }),
    output: Type.String({ description: `The first line of the output, up to ${MAX_OUTPUT} characters` }),
    last_at: Type.Integer({ description: `The last result: ${S}` }),
    since: nullable(
      Type.Integer({
        description: `The start of the problem, or of the status of a passing check: ${S}; null = unknown`,
      }),
    ),
    changed_at: nullable(Type.Integer({ description: `The last change of the status: ${S}; null = not on record` })),
    last_ok: Type.Integer({ description: `${S}; 0 = never` }),
    occurrences: Type.Integer(),
    silenced: Type.Array(Type.String(), { description: 'The silences that apply now' }),
    history: Type.Array(Type.Integer(), { description: 'The last statuses, oldest first' }),
    interval: Type.Integer(),
    ttl: Type.Integer(),
    labels: Type.Object({}, { additionalProperties: Type.String(), description: 'Of the entity and of the check' }),
    notifications: Type.Array(
      Type.Object({
        handler: Type.String(),
        outcome: Type.Enum([...OUTCOMES]),
        reason: Type.String(),
        at: Type.Number({ description: S }),
      }),
      { description: 'The last outcome of each handler since the start of the problem; empty for a passing check' },
    ),
  },
  { $id: 'mon/v1.EventSummary' },
);

export type EventSummary = Static<typeof EventSummarySchema>;

export interface SummaryParts {
  event: CheckEvent;
  /** Undefined while the check passes. */
  incident: Incident | undefined;
  silenced: string[];
  /** Oldest first. */
  notifications: readonly Notification[];
}

/** An event as a list shows it. */
export function eventSummary({ event, incident, silenced, notifications }: SummaryParts): EventSummary {
  const { entity, check, timestamp } = redactEvent(event);
  const { labels: ofEntity } = entity.metadata;
  const { labels: ofCheck } = check.metadata;
  const history = check.history ?? [];
  const changed = incident?.lastStateChangeS ?? lastChangeS(history);
  return {
    namespace: entity.metadata.namespace ?? '',
    entity: entity.metadata.name ?? '',
    entity_class: entity.entity_class,
    check: check.metadata.name ?? '',
    status: check.status,
    state: check.state ?? '',
    output: firstLine(check.output),
    last_at: check.executed || timestamp,
    since: incident?.openedAtS ?? changed ?? null,
    changed_at: changed ?? null,
    last_ok: check.last_ok,
    occurrences: check.occurrences,
    silenced,
    history: history.map(({ status }) => status),
    interval: check.interval,
    ttl: check.ttl,
    labels: { ...ofEntity, ...ofCheck },
    notifications: lastOfEach(notifications, (incident?.openedAtS ?? Infinity) * 1_000),
  };
}

function firstLine(output: string): string {
  const line = output.trimStart().split('\n', 1)[0] ?? '';
  return copyOf(line.length > MAX_OUTPUT ? `${line.slice(0, MAX_OUTPUT - 1)}…` : line);
}

/** Returns the same text. A part of a string keeps the whole string in memory, which may have megabytes. */
const copyOf = (text: string): string => Buffer.from(text, 'utf16le').toString('utf16le');

/** The time of the first result with the present status; undefined when the history does not reach back to it. */
function lastChangeS(history: readonly { status: number; executed: number }[]): number | undefined {
  const status = history.at(-1)?.status;
  const before = history.findLastIndex((entry) => entry.status !== status);
  return before < 0 ? undefined : history[before + 1]?.executed;
}

function lastOfEach(notifications: readonly Notification[], sinceMs: number): EventSummary['notifications'] {
  const last = new Map<string, Notification>();
  for (const one of notifications) if (one.atMs >= sinceMs) last.set(one.handler, one);
  return [...last.values()].map(({ handler, outcome, reason, atMs }) => ({
    handler,
    outcome,
    reason: firstLine(reason),
    at: atMs / 1_000,
  }));
}
