import { type Static, Type } from 'typebox';
import {
  assertSharedRules,
  assertTtl,
  checkConfigFields,
  checkWithDefaults,
  eitherIntervalOrCron,
  referenceWithDefaults,
  ResourceReferenceSchema,
} from './check.ts';
import { assertCron } from './cron-expression.ts';
import { assertEntity, EntitySchema, entityWithDefaults } from './entity.ts';
import { InvalidResource } from './errors.ts';
import { hookFields, hookWithDefaults } from './hook.ts';
import { metricPointWithDefaults, MetricPointSchema } from './metric-point.ts';
import { assertEventCheckLists, assertEventLists } from './list-bounds.ts';
import { assertMetaBounds } from './meta-bounds.ts';
import { assertMetricThresholds } from './metric-threshold.ts';
import { assertName, canonicalUuid, isUuid } from './names.ts';
import { ObjectMetaSchema, objectMetaWithDefaults } from './object-meta.ts';
import {
  flag,
  int32,
  int64,
  listOrAbsent,
  listOrNull,
  optional,
  orAbsent,
  text,
  textList,
  textsOf,
  textsOrAbsent,
  uint32,
  validator,
} from './schema.ts';
import { assertRepeatedWindows, assertWeeklyWindows } from './time-windows.ts';

/** The shortest check TTL that an event may set. */
const MIN_TTL_S = 5;

const HistoryEntrySchema = Type.Object({ status: optional(uint32()), executed: optional(int64('Unix seconds')) });

const HookResultSchema = Type.Object({
  ...hookFields,
  duration: optional(Type.Number()),
  executed: optional(int64('Unix seconds')),
  issued: optional(int64('Unix seconds')),
  output: optional(text()),
  status: optional(int32()),
});

export const EventCheckSchema = Type.Object(
  {
    ...checkConfigFields,
    duration: optional(Type.Number({ description: 'seconds' })),
    executed: optional(int64('Unix seconds')),
    history: optional(Type.Array(HistoryEntrySchema)),
    issued: optional(int64('Unix seconds')),
    output: optional(text()),
    state: optional(text('passing, failing or flapping; set by the backend')),
    status: optional(uint32('0 OK, 1 warning, 2 critical, others unknown or custom')),
    total_state_change: optional(uint32('percent')),
    last_ok: optional(int64('Unix seconds')),
    occurrences: optional(int64()),
    occurrences_watermark: optional(int64()),
    silenced: optional(textList()),
    hooks: optional(Type.Array(HookResultSchema)),
    is_silenced: optional(flag()),
    scheduler: optional(text()),
    processed_by: optional(text()),
  },
  { $id: 'core/v2.Check' },
);

export const EventSchema = Type.Object(
  {
    timestamp: optional(int64('Unix seconds; 0 when absent')),
    entity: optional(EntitySchema),
    check: optional(EventCheckSchema),
    metrics: optional(Type.Object({ handlers: optional(textList()), points: optional(Type.Array(MetricPointSchema)) })),
    metadata: optional(ObjectMetaSchema),
    id: optional(text('UUID')),
    sequence: optional(int64()),
    pipelines: optional(Type.Array(ResourceReferenceSchema)),
  },
  { $id: 'core/v2.Event' },
);

export type EventCheck = ReturnType<typeof eventCheckWithDefaults>;
export type Event = ReturnType<typeof eventWithDefaults>;
export interface HistoryEntry {
  status: number;
  executed: number;
}
/** An event with a check that has passed `assertEvent`. Such events are merged and stored. */
export type CheckEvent = Event & { entity: NonNullable<Event['entity']>; check: EventCheck };

/** Uses `Object.assign` for its speed. */
function hookResultWithDefaults(input: Static<typeof HookResultSchema>) {
  return Object.assign(hookWithDefaults(input), {
    duration: orAbsent(input.duration),
    executed: input.executed ?? 0,
    issued: input.issued ?? 0,
    output: orAbsent(input.output),
    status: input.status ?? 0,
  });
}

const historyEntry = (input: Static<typeof HistoryEntrySchema>): HistoryEntry => ({
  status: input.status ?? 0,
  executed: input.executed ?? 0,
});

function resultWithDefaults(input: Static<typeof EventCheckSchema>) {
  return {
    duration: orAbsent(input.duration),
    executed: input.executed ?? 0,
    history: listOrNull(input.history?.map(historyEntry)),
    issued: input.issued ?? 0,
    output: input.output ?? '',
    state: orAbsent(input.state),
    status: input.status ?? 0,
    total_state_change: input.total_state_change ?? 0,
    last_ok: input.last_ok ?? 0,
    occurrences: input.occurrences ?? 0,
    occurrences_watermark: input.occurrences_watermark ?? 0,
    silenced: textsOrAbsent(input.silenced),
    hooks: listOrAbsent(input.hooks?.map(hookResultWithDefaults)),
    is_silenced: input.is_silenced ?? false,
    scheduler: input.scheduler ?? '',
    processed_by: orAbsent(input.processed_by),
  };
}

/** Uses `Object.assign`, because a literal that spreads this many members takes fifty times as long. */
export function eventCheckWithDefaults(input: Static<typeof EventCheckSchema>) {
  return Object.assign(checkWithDefaults(input), resultWithDefaults(input));
}

const BLANK_CHECK = eventCheckWithDefaults({});

/**
 * Returns the check of an event with all defaults. Copying them takes V8 about a third of the time that setting them takes, because the
 * literal only replaces members of the copy and adds none.
 */
export const blankEventCheck = (): EventCheck => ({
  ...BLANK_CHECK,
  handlers: [],
  subscriptions: [],
  pipelines: [],
  metadata: objectMetaWithDefaults(null),
});

/** Keeps an empty list, because metrics are published and not stored. */
function metricsWithDefaults(input: NonNullable<Static<typeof EventSchema>['metrics']>) {
  return {
    handlers: input.handlers ? textsOf(input.handlers) : null,
    points: input.points?.map(metricPointWithDefaults) ?? null,
  };
}

export function eventWithDefaults(input: Static<typeof EventSchema>) {
  return {
    timestamp: input.timestamp ?? 0,
    entity: input.entity ? entityWithDefaults(input.entity) : undefined,
    check: input.check ? eventCheckWithDefaults(input.check) : undefined,
    metrics: input.metrics ? metricsWithDefaults(input.metrics) : undefined,
    metadata: objectMetaWithDefaults(input.metadata),
    id: input.id ? (canonicalUuid(input.id) ?? input.id) : null,
    sequence: input.sequence ?? 0,
    pipelines: listOrNull(input.pipelines?.map(referenceWithDefaults)),
  };
}

const validateShape = validator('event', EventSchema);

/** Validates the shape and sets defaults; does not check the rules. @throws InvalidResource */
export function parseEventShape(value: unknown): Event {
  return eventWithDefaults(validateShape(value));
}

/** Checks the rules of an event in order, except those of a valid entity. @throws InvalidResource with the text of the reference */
export function assertEvent(event: Event, isEntityValid = false): void {
  if (event.entity === undefined) throw new InvalidResource('event must contain an entity');
  if (event.check === undefined && event.metrics === undefined) {
    throw new InvalidResource('event must contain a check or metrics');
  }
  if (!isEntityValid) within('entity is invalid: ', assertEntity, event.entity);
  if (event.check !== undefined) within('check is invalid: ', assertEventCheck, event.check);
  assertEventLists(event);
  for (const { type, api_version: version } of event.pipelines ?? []) {
    if (type !== 'Pipeline' || version !== 'core/v2') {
      throw new InvalidResource(
        `pipeline reference is invalid: resource type not capable of acting as a pipeline: ${version}.${type}`,
      );
    }
  }
  if (event.metadata.name !== undefined) throw new InvalidResource('events cannot be named');
  assertMetaBounds(event.metadata);
  if (event.id !== null && !isUuid(event.id)) throw new InvalidResource(`invalid event id: ${uuidError(event.id)}`);
}

const UUID_LENGTH = 36;

const uuidError = (id: string): string =>
  id.length === UUID_LENGTH ? 'invalid UUID format' : `invalid UUID length: ${id.length}`;

export function hasCheck(event: Event): event is CheckEvent {
  return event.entity !== undefined && event.check !== undefined;
}

/** Validates shape and rules and sets defaults. @throws InvalidResource */
export function parseEvent(value: unknown): Event {
  const event = parseEventShape(value);
  assertEvent(event);
  return event;
}

function within<T>(prefix: string, assertion: (value: T) => void, value: T): void {
  try {
    assertion(value);
  } catch (error) {
    if (error instanceof InvalidResource) throw new InvalidResource(prefix + error.message, { cause: error });
    throw error;
  }
}

function assertEventCheck(check: EventCheck): void {
  assertName(check.metadata.name ?? '', 'check name');
  assertMetaBounds(check.metadata);
  assertEventCheckLists(check);
  for (const [index, { metadata }] of (check.hooks ?? []).entries()) {
    within(`hooks.${index} `, assertMetaBounds, metadata);
  }
  if (check.publish) {
    if (check.cron !== undefined) {
      if (check.interval > 0) throw eitherIntervalOrCron();
      assertCron(check.cron);
    } else if (check.interval === 0) {
      throw new InvalidResource('check interval must be greater than or equal to 1');
    }
  }
  assertTtl(check);
  if (check.ttl > 0 && check.ttl < MIN_TTL_S) throw new InvalidResource(`minimum ttl is ${MIN_TTL_S} seconds`);
  assertSharedRules(check);
  if (check.max_output_size !== undefined && check.max_output_size < 0) {
    throw new InvalidResource('MaxOutputSize must be >= 0');
  }
  assertMetricThresholds(check.output_metric_thresholds ?? []);
  assertRepeatedWindows(check.subdues ?? []);
  assertWeeklyWindows(check.subdue);
}
