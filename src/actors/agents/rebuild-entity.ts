import type { ActorSnapshot } from '../../machines/actor-snapshot.ts';
import { type StoredKeepalive, rebuiltEntity } from '../../machines/entity-snapshots.ts';
import type { CheckEvent } from '../../resources/event.ts';
import { keepaliveSilentS } from '../../rules/alert-output.ts';
import { timeoutError } from '../../rules/keepalive-ticks.ts';
import type { TableReader } from '../../store/commit/decision.ts';
import { readResource } from '../../store/resource-store.ts';
import { KEEPALIVE } from '../events/merge-event.ts';
import type { BlindTime } from '../time/blind-time.ts';
import { ALIVE_OUTPUT, timeoutsOf } from './keepalives.ts';

/**
 * Rebuilds the snapshot of an entity from its stored configuration and its keepalive event; undefined when the entity does not
 * exist. `nowMs` is steady time.
 */
export function rebuildEntity(
  reader: TableReader,
  key: string,
  { nowMs, blind }: { nowMs: number; blind: BlindTime },
): ActorSnapshot | undefined {
  if (reader.get('entities', key) === undefined) return undefined;
  const [namespace = '', name = ''] = key.split('/');
  const isAgent = readResource(reader, 'entities', namespace, name)?.entity_class === 'agent';
  const stored = isAgent ? reader.get('events', `${key}/${KEEPALIVE}`)?.event : undefined;
  const graceOf = (receivedAtS: number, alertAtS: number): number =>
    blind.graceMsAt(Math.min(nowMs, receivedAtS * 1_000), alertAtS * 1_000 + 999);
  return rebuiltEntity(key, stored === undefined ? undefined : keepaliveDataOf(stored, graceOf), nowMs);
}

/** Returns undefined for a keepalive event that starts no monitor. */
function keepaliveDataOf(
  { check }: CheckEvent,
  graceOf: (receivedAtS: number, alertAtS: number) => number,
): StoredKeepalive | undefined {
  const { interval, timeout, ttl, status, executed, output } = check;
  if (timeoutError(interval, timeout, ttl) !== undefined) return undefined;
  const timeouts = timeoutsOf(check);
  const silentS = status === 0 ? undefined : keepaliveSilentS(output);
  if (silentS !== undefined) {
    const receivedAtS = executed - silentS;
    return { ...timeouts, receivedAtS, alert: { status, silentS, graceMs: graceOf(receivedAtS, executed) } };
  }
  const isOurs = status === 0 && output.startsWith(ALIVE_OUTPUT);
  return { ...timeouts, receivedAtS: isOurs ? executed : undefined, alert: undefined };
}
