import type { AggregateAttributes } from '../resources/aggregate-attributes.ts';
import type { Check } from '../resources/check.ts';
import type { EventCheck } from '../resources/event.ts';
import { customOf } from './earlier-attributes.ts';
import { isMetric, storedOutput } from './earlier-output.ts';
import { toEarlierStatus } from './earlier-status.ts';

/** The stored check, as far as results show it. */
export type ShownDefinition = Pick<Check, keyof AggregateAttributes>;

export interface EarlierCheckOptions {
  /** The name of the client. */
  client: string;
  definition: ShownDefinition | undefined;
  /** Whether the result is the alert of a check TTL. */
  isTtlExpired: boolean;
  /** Events have the statuses of the history as texts and the whole output; results have numbers and the stored part of the output. */
  as: 'event' | 'result';
}

const MAX_HISTORY = 21;
/** The interval at which the first generation looks for missing results, which replaces that of the check in its alerts. */
const TTL_MONITOR_S = 30;
const DURATION_UNIT = 1_000;

/** Returns the check of an event as the first generation shows it. Source: spec/05 3.1.1. */
export function earlierCheck(check: EventCheck, options: EarlierCheckOptions): Record<string, unknown> {
  const { client, definition, isTtlExpired } = options;
  const { proxy_entity_name: source, processed_by: origin, duration } = check;
  const statuses = (check.history ?? []).slice(-MAX_HISTORY).map(({ status }) => toEarlierStatus(status));
  return {
    ...customOf(check.metadata),
    ...configurationOf(check),
    ...attributesOf(definition ?? {}),
    ...attributesOf(check),
    ...(isTtlExpired ? { interval: TTL_MONITOR_S } : undefined),
    ...(source === '' ? undefined : { source, origin: origin ?? client }),
    status: toEarlierStatus(check.status),
    output: options.as === 'event' ? check.output : storedOutput(check),
    issued: check.issued > 0 ? check.issued : check.executed,
    executed: check.executed,
    ...(duration === undefined ? undefined : { duration: Math.round(duration * DURATION_UNIT) / DURATION_UNIT }),
    history: options.as === 'event' ? statuses.map(String) : statuses,
    total_state_change: check.total_state_change,
  };
}

/** Returns a stored check as the first generation shows a definition. Source: spec/05 7.2. */
export const earlierDefinition = (check: Check): Record<string, unknown> => ({
  ...customOf(check.metadata),
  ...configurationOf(check),
  ...attributesOf(check),
  ...(check.proxy_entity_name === '' ? undefined : { source: check.proxy_entity_name }),
});

function configurationOf(check: Check): Record<string, unknown> {
  const { metadata, command, handlers, cron } = check;
  const [handler] = handlers;
  return {
    name: metadata.name ?? '',
    ...(command === undefined ? undefined : { command }),
    subscribers: check.subscriptions,
    ...(cron === undefined ? whereSet('interval', check.interval) : { cron }),
    ...(handler === undefined ? undefined : { handler }),
    handlers,
    type: isMetric(check) ? 'metric' : 'standard',
    ...whereSet('ttl', check.ttl),
    ...whereSet('timeout', check.timeout),
    ...whereSet('low_flap_threshold', check.low_flap_threshold),
    ...whereSet('high_flap_threshold', check.high_flap_threshold),
  };
}

const whereSet = (name: string, value: number): Record<string, number> | undefined =>
  value > 0 ? { [name]: value } : undefined;

const attributesOf = ({ aggregate, aggregates, handle }: AggregateAttributes): AggregateAttributes => ({
  ...(aggregate === undefined ? undefined : { aggregate }),
  ...(aggregates === undefined ? undefined : { aggregates }),
  ...(handle === undefined ? undefined : { handle }),
});
