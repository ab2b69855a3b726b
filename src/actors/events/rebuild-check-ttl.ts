import type { ActorSnapshot } from '../../machines/actor-snapshot.ts';
import { rebuiltTtl, receivedBeforeMs } from '../../machines/check-ttl-snapshots.ts';
import { ttlSilentS } from '../../rules/alert-output.ts';
import type { TableReader } from '../../store/commit/decision.ts';
import type { BlindTime } from '../time/blind-time.ts';
import { alertStatusOf } from './merge-event.ts';

/**
 * Rebuilds the snapshot of an armed check TTL from the stored event; undefined when the event has no TTL. `nowMs` is steady time.
 */
export function rebuildCheckTtl(
  reader: TableReader,
  key: string,
  { nowMs, blind }: { nowMs: number; blind: BlindTime },
): ActorSnapshot | undefined {
  const record = reader.get('events', key);
  if (record?.ttl === undefined) return undefined;
  const { check } = record.event;
  if (check.ttl <= 0) return undefined;
  // Only an alert of the backend has a status above 0 and no time of issue.
  const silentS = check.status > 0 && check.issued === 0 ? ttlSilentS(check.output) : undefined;
  const alert = silentS === undefined ? undefined : { atS: check.executed, silentS };
  const expiry = alert && {
    ...alert,
    graceMs: blind.graceMsAt(receivedBeforeMs(alert, nowMs), alert.atS * 1_000 + 999),
  };
  return rebuiltTtl(key, { ttlMs: check.ttl * 1_000, alertStatus: alertStatusOf(check), expiry }, nowMs);
}
