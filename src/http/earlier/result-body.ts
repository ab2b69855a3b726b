import { randomUUID } from 'node:crypto';
import type { AggregateAttributes } from '../../resources/aggregate-attributes.ts';
import type { Check } from '../../resources/check.ts';
import { InvalidResource } from '../../resources/errors.ts';
import { assertEvent, type CheckEvent, hasCheck, parseEventShape } from '../../resources/event.ts';
import { customToMetadata } from '../../rules/earlier-attributes.ts';
import { toStoredStatus } from '../../rules/earlier-status.ts';
import { type Body, integer, matching, NAME, optional, text, texts, truth } from './body-members.ts';

/** The client of results without a source. */
export const API_CLIENT = 'mon-api';

const MAX_STATUS = 2 ** 31 - 1;
/** A time of execution is kept when it is not older than a day and not more than a minute ahead. */
const KEPT_FOR_S = 86_400;
const KEPT_AHEAD_S = 60;
/** Members that become fields of the event, or are set by the backend; the others are custom. */
const KNOWN = new Set([
  'name',
  'output',
  'status',
  'source',
  'client',
  'dc',
  'executed',
  'issued',
  'handler',
  'handlers',
  'aggregate',
  'aggregates',
  'handle',
  'ttl',
  'command',
  'subscribers',
  'interval',
  'cron',
  'timeout',
  'duration',
  'low_flap_threshold',
  'high_flap_threshold',
  'history',
  'total_state_change',
  'origin',
]);

/** Members that are integers. The first generation looks at `ttl_status` only beside a `ttl`. */
export const RESULT_INTEGERS = [
  'status',
  'executed',
  'ttl',
  'low_flap_threshold',
  'high_flap_threshold',
  'truncate_output_length',
];

/** Members that the first generation does not check: a value of another type is custom data. */
const UNCHECKED: ReadonlyMap<string, string> = new Map([
  ['command', 'string'],
  ['cron', 'string'],
  ['interval', 'number'],
  ['duration', 'number'],
  ['timeout', 'number'],
  ['handle', 'boolean'],
]);

/** Where a result belongs, and the configuration that it adds to. */
export interface ResultContext {
  namespace: string;
  nowS: number;
  /** The stored check of the same name. */
  definition: Check | undefined;
  /** Whether the namespace has the handler `default`. */
  hasDefaultHandler: boolean;
}

/** Returns the name of the check of a posted result. @throws InvalidResource */
export const checkNameOf = ({ name }: Body): string => matching('name', name, NAME);

/** Returns the name of the client of a posted result. @throws InvalidResource */
export const clientOf = (body: Body): string =>
  sourceOf(body) ?? optional(body, 'client', (value) => matching('client', value, NAME)) ?? API_CLIENT;

const sourceOf = (body: Body): string | undefined =>
  optional(body, 'source', (value) => matching('source', value, NAME));

/**
 * Converts a result of the first generation to an event. The stored check gives what the result lacks. Source: spec/05 8.3.
 * @throws InvalidResource that names the member and the rule
 */
export function eventOfResult(
  body: Body,
  { namespace, nowS, definition, hasDefaultHandler }: ResultContext,
): CheckEvent {
  const name = checkNameOf(body);
  const source = sourceOf(body);
  const client = clientOf(body);
  assertRules(body);
  const standalone = body['standalone'] === true;
  const below = standalone ? undefined : definition;
  const executed = executedOf(body, nowS);
  const custom = Object.fromEntries(Object.entries(body).filter(([member]) => isCustom(body, member)));
  const { labels, annotations } = customToMetadata(custom);
  const ttl = body['ttl'] ?? undefined;
  const ttlStatus = ttl === undefined ? undefined : optional(body, 'ttl_status', integer('ttl_status'));
  const event = parseEventShape({
    timestamp: nowS,
    id: randomUUID(),
    entity: { entity_class: 'proxy', metadata: { name: client, namespace } },
    check: {
      metadata: {
        name,
        namespace,
        labels,
        annotations: {
          ...annotations,
          ...(ttlStatus === undefined ? undefined : { 'mon.io/ttl-status': String(ttlStatus) }),
        },
      },
      ...configurationOf(body, below, hasDefaultHandler),
      ...attributesOf(body, standalone),
      proxy_entity_name: source ?? '',
      output: text('output', body['output']),
      status: toStoredStatus(optional(body, 'status', integer('status')) ?? 0),
      executed,
      issued: executed,
      duration: unchecked(body, 'duration'),
      processed_by: API_CLIENT,
    },
    metadata: { namespace },
  });
  // The first generation allows any check TTL and any interval beside it.
  assertEvent(event.check === undefined ? event : { ...event, check: { ...event.check, ttl: 0 } });
  if (!hasCheck(event)) throw new Error('the event of a result has a check');
  return event;
}

/** Checks the members that are kept as they are. */
function assertRules(body: Body): void {
  const ttl = optional(body, 'ttl', integer('ttl'));
  if (ttl !== undefined && ttl <= 0) throw new InvalidResource('ttl must be above 0');
  const [low, high] = ['low_flap_threshold', 'high_flap_threshold'].map((one) => optional(body, one, integer(one)));
  if ((low === undefined) !== (high === undefined)) {
    throw new InvalidResource('low_flap_threshold and high_flap_threshold are required together');
  }
  const length = optional(body, 'truncate_output_length', integer('truncate_output_length'));
  if (length !== undefined && length <= 0) throw new InvalidResource('truncate_output_length must be above 0');
  optional(body, 'truncate_output', truth('truncate_output'));
}

function configurationOf(body: Body, definition: Check | undefined, hasDefaultHandler: boolean): object {
  const subscribers = optional(body, 'subscribers', texts('subscribers'));
  const cron = unchecked<string>(body, 'cron') ?? definition?.cron;
  const interval = unchecked<number>(body, 'interval') ?? definition?.interval ?? 0;
  const timeout = unchecked<number>(body, 'timeout') ?? definition?.timeout ?? 0;
  return {
    command: unchecked(body, 'command') ?? definition?.command,
    subscriptions: subscribers ?? definition?.subscriptions ?? [],
    interval: cron === undefined && Number.isInteger(interval) && interval > 0 && interval <= MAX_STATUS ? interval : 0,
    cron,
    handlers: handlersOf(body, definition, hasDefaultHandler),
    ttl: optional(body, 'ttl', integer('ttl')) ?? definition?.ttl ?? 0,
    timeout: Number.isInteger(timeout) && timeout >= 0 && timeout <= MAX_STATUS ? timeout : 0,
    low_flap_threshold: flapThreshold(body, 'low_flap_threshold', definition?.low_flap_threshold),
    high_flap_threshold: flapThreshold(body, 'high_flap_threshold', definition?.high_flap_threshold),
    output_metric_format: definition?.output_metric_format ?? '',
    pipelines: definition?.pipelines ?? [],
  };
}

const flapThreshold = (body: Body, member: string, stored = 0): number =>
  Math.max(0, optional(body, member, integer(member)) ?? stored);

/** A list replaces the single handler. A result that names none has the handler `default`, if there is one. */
function handlersOf(body: Body, definition: Check | undefined, hasDefaultHandler: boolean): string[] {
  const handlers = optional(body, 'handlers', texts('handlers'));
  if (handlers?.includes('') === true) throw new InvalidResource('handlers must not contain an empty string');
  const handler = optional(body, 'handler', (value) => text('handler', value));
  const named = handlers ?? (handler === undefined ? undefined : [handler]) ?? definition?.handlers ?? [];
  return named.length === 0 && hasDefaultHandler ? ['default'] : named;
}

/** A standalone result joins only the aggregates that it names itself. */
function attributesOf({ aggregate, aggregates, handle }: Body, isStandalone: boolean): AggregateAttributes {
  const isNamed = (aggregate ?? undefined) !== undefined || (aggregates ?? undefined) !== undefined;
  const attributes = { aggregate, aggregates: isStandalone && !isNamed ? [] : aggregates };
  // The shape of the event checks their types.
  return { ...attributes, ...(typeof handle === 'boolean' ? { handle } : undefined) } as AggregateAttributes;
}

function executedOf(body: Body, nowS: number): number {
  const executed = optional(body, 'executed', integer('executed'));
  const isKept = executed !== undefined && executed > nowS - KEPT_FOR_S && executed <= nowS + KEPT_AHEAD_S;
  return isKept ? executed : nowS;
}

/** The value of a member that is not checked; undefined when it has another type. */
const unchecked = <T>(body: Body, member: string): T | undefined =>
  typeof body[member] === UNCHECKED.get(member) ? (body[member] as T) : undefined;

function isCustom(body: Body, member: string): boolean {
  const type = UNCHECKED.get(member);
  const value = body[member];
  if (type !== undefined && value !== null && value !== undefined) return typeof value !== type;
  return !KNOWN.has(member);
}
