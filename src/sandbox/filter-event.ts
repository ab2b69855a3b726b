import type { Entity } from '../resources/entity.ts';
import { systemData } from '../resources/entity-data.ts';
import type { Event, EventCheck } from '../resources/event.ts';
import type { ObjectMeta } from '../resources/object-meta.ts';

const UUID_BYTES = 16;

/**
 * Returns an event as filters see it: each field has its zero value instead of being absent or null, the members of the
 * metadata are also members of their object, and there are derived booleans. Absent objects are undefined. Shares
 * strings and maps with `event`. Source: spec/04 2.7, "Shape of `event`".
 */
export function filterEvent(event: Event) {
  return {
    timestamp: event.timestamp,
    entity: event.entity && filterEntity(event.entity),
    check: event.check && filterCheck(event.check),
    metrics: event.metrics && filterMetrics(event.metrics),
    ...flattened(event.metadata),
    id: bytesOfUuid(event.id ?? ''),
    sequence: event.sequence,
    pipelines: event.pipelines ?? [],
    ...derived(event),
  };
}

/** Returns one member of an event as filters see it, without the cost of the others. */
export function filterMember(event: Event, name: string): unknown {
  if (name === 'check') return event.check && filterCheck(event.check);
  if (name === 'entity') return event.entity && filterEntity(event.entity);
  if (name === 'metrics') return event.metrics && filterMetrics(event.metrics);
  const members: object = DERIVED.test(name)
    ? derived(event)
    : filterEvent({ ...event, entity: undefined, check: undefined, metrics: undefined });
  return Object.hasOwn(members, name) ? (members as Record<string, unknown>)[name] : undefined;
}

const DERIVED = /^(?:has|is)_/;

const filterMetrics = (metrics: NonNullable<Event['metrics']>) => ({
  handlers: metrics.handlers ?? [],
  points: (metrics.points ?? []).map(({ name, value, timestamp, tags }) => ({
    name: name ?? '',
    value,
    timestamp: Number(timestamp),
    tags: tags ?? [],
  })),
});

/** The booleans that are derived from an event. */
export function derived({ check, metrics }: Pick<Event, 'check' | 'metrics'>) {
  const before = check?.history?.at(-2);
  return {
    has_check: check !== undefined,
    has_metrics: metrics !== undefined,
    is_incident: check !== undefined && check.status !== 0,
    is_resolution: check?.status === 0 && before !== undefined && before.status !== 0,
    is_silenced: (check?.silenced?.length ?? 0) > 0,
    is_flapping_start: check?.state === 'flapping',
    is_flapping_end: false,
  };
}

function flattened(metadata: ObjectMeta) {
  const members = {
    name: metadata.name ?? '',
    namespace: metadata.namespace ?? '',
    labels: metadata.labels ?? {},
    annotations: metadata.annotations ?? {},
    created_by: metadata.created_by ?? '',
  };
  return { ...members, metadata: members };
}

function filterCheck(check: EventCheck) {
  return {
    command: check.command ?? '',
    handlers: check.handlers,
    high_flap_threshold: check.high_flap_threshold,
    interval: check.interval,
    low_flap_threshold: check.low_flap_threshold,
    publish: check.publish,
    runtime_assets: check.runtime_assets ?? [],
    subscriptions: check.subscriptions,
    proxy_entity_name: check.proxy_entity_name,
    check_hooks: (check.check_hooks ?? []).flatMap((lists) =>
      Object.entries(lists).map(([type, hooks]) => ({ hooks: hooks ?? [], type })),
    ),
    stdin: check.stdin,
    subdue: check.subdue ?? undefined,
    cron: check.cron ?? '',
    ttl: check.ttl,
    timeout: check.timeout,
    proxy_requests: check.proxy_requests && {
      ...check.proxy_requests,
      entity_attributes: check.proxy_requests.entity_attributes ?? [],
    },
    round_robin: check.round_robin,
    output_metric_format: check.output_metric_format,
    output_metric_handlers: check.output_metric_handlers ?? [],
    env_vars: check.env_vars ?? [],
    ...flattened(check.metadata),
    max_output_size: check.max_output_size ?? 0,
    discard_output: check.discard_output ?? false,
    secrets: (check.secrets ?? []).map(({ name, secret }) => ({ name: name ?? '', secret: secret ?? '' })),
    output_metric_tags: (check.output_metric_tags ?? []).map(nameAndValue),
    pipelines: check.pipelines,
    output_metric_thresholds: (check.output_metric_thresholds ?? []).map((threshold) => ({
      ...threshold,
      tags: threshold.tags ?? [],
      thresholds: threshold.thresholds ?? [],
    })),
    subdues: (check.subdues ?? []).map((window) => ({ ...window, repeat: window.repeat ?? [] })),
    duration: check.duration ?? 0,
    executed: check.executed,
    history: (check.history ?? []).map(({ status, executed }) => ({ status, executed, flapping: false })),
    issued: check.issued,
    output: check.output,
    state: check.state ?? '',
    status: check.status,
    total_state_change: check.total_state_change,
    last_ok: check.last_ok,
    occurrences: check.occurrences,
    occurrences_watermark: check.occurrences_watermark,
    silenced: check.silenced ?? [],
    hooks: (check.hooks ?? []).map(filterHook),
    is_silenced: check.is_silenced,
    scheduler: check.scheduler,
    processed_by: check.processed_by ?? '',
  };
}

const nameAndValue = ({ name, value }: { name: string | undefined; value: string | undefined }) => ({
  name: name ?? '',
  value: value ?? '',
});

const filterHook = (hook: NonNullable<EventCheck['hooks']>[number]) => ({
  ...flattened(hook.metadata),
  command: hook.command ?? '',
  timeout: hook.timeout,
  stdin: hook.stdin,
  runtime_assets: hook.runtime_assets ?? [],
  duration: hook.duration ?? 0,
  executed: hook.executed,
  issued: hook.issued,
  output: hook.output ?? '',
  status: hook.status,
});

function filterEntity(entity: Entity) {
  return {
    entity_class: entity.entity_class,
    system: systemData(entity.system),
    subscriptions: entity.subscriptions ?? [],
    last_seen: entity.last_seen,
    deregister: entity.deregister,
    deregistration: { handler: entity.deregistration.handler ?? '' },
    user: entity.user ?? '',
    redact: entity.redact ?? [],
    ...flattened(entity.metadata),
    sensu_agent_version: entity.sensu_agent_version,
    keepalive_handlers: entity.keepalive_handlers ?? [],
  };
}

/** Returns the 16 bytes of a UUID, all zero for any other text. */
export function bytesOfUuid(id: string): number[] {
  const digits = id.replaceAll('-', '');
  return Array.from({ length: UUID_BYTES }, (_, index) => {
    const byte = Number.parseInt(digits.slice(index * 2, index * 2 + 2), 16);
    return Number.isNaN(byte) ? 0 : byte;
  });
}
