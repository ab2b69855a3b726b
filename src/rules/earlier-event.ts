import type { Entity } from '../resources/entity.ts';
import type { CheckEvent } from '../resources/event.ts';
import { earlierCheck, type ShownDefinition } from './earlier-check.ts';
import { earlierClient, type KeepaliveThresholds } from './earlier-client.ts';
import { earlierSilencedBy } from './earlier-silence.ts';
import type { Incident } from './incident.ts';

/** An open event. */
export interface EarlierEventInput {
  event: CheckEvent;
  incident: Incident;
  /** Whether it is the alert of a check TTL. */
  isTtlExpired: boolean;
}

/** The data beside the event. */
export interface EarlierContext {
  /** The datacenter under which the namespace is shown. */
  dc: string;
  /** The names of the silences that apply now. */
  silencedBy: readonly string[];
  /** Whether a silence on all checks of the entity is active. */
  isClientSilenced: boolean;
  /** The stored check; undefined when there is none. */
  definition: ShownDefinition | undefined;
  /** The stored entity; that of the event when undefined. */
  entity?: Entity | undefined;
  /** The timeouts of its keepalives; undefined when it has none. */
  thresholds?: KeepaliveThresholds | undefined;
  backendVersion: string;
}

/** Returns an open event as the first generation shows it. Source: spec/05 3.1. */
export function earlierEvent(open: EarlierEventInput, context: EarlierContext): Record<string, unknown> {
  const { event, incident, isTtlExpired } = open;
  const { check, timestamp } = event;
  const { dc, silencedBy, definition, thresholds, backendVersion } = context;
  const entity = context.entity ?? event.entity;
  const client = entity.metadata.name ?? '';
  return {
    _id: `${dc}/${client}/${check.metadata.name ?? ''}`,
    id: incident.id,
    action: check.state === 'flapping' ? 'flapping' : 'create',
    dc,
    client: earlierClient(entity, {
      isSilenced: context.isClientSilenced,
      backendVersion,
      timestampS: timestamp,
      thresholds,
    }),
    check: earlierCheck(check, { client, definition, isTtlExpired, as: 'event' }),
    occurrences: check.occurrences,
    occurrences_watermark: Math.max(check.occurrences, check.occurrences_watermark),
    last_ok: check.last_ok > 0 ? check.last_ok : null,
    last_state_change: incident.lastStateChangeS,
    silenced: silencedBy.length > 0,
    silenced_by: earlierSilencedBy(silencedBy),
    timestamp,
  };
}
