import { type KeepaliveTimeouts, nextTickMs } from '../rules/keepalive-ticks.ts';
import type { ActorSnapshot } from './actor-snapshot.ts';
import { type EntityContext, entityMachine, type Keepalive } from './entity.ts';

const { version = '' } = entityMachine;

/** Returns the snapshot after a keepalive that a quarantined actor could not receive. */
export const entityAfterKeepalive = (key: string, keepalive: Keepalive): ActorSnapshot => monitored(key, keepalive);

/** The data of the stored keepalive event of an entity, in whole seconds of wall time. */
export interface StoredKeepalive extends KeepaliveTimeouts {
  intervalMs: number;
  /** Receipt of the last keepalive; undefined when unknown, as for an event from the API. */
  receivedAtS: number | undefined;
  /** The last alert, when the agent has been silent since; `silentS` is the silence that the alert names. */
  alert: { status: number; silentS: number } | undefined;
}

/**
 * Rebuilds the snapshot from domain data, to replace a stored one that cannot be used: unmonitored without `keepalive`, otherwise
 * in the state of the last alert, with the deadline after it. Without blind time since the last keepalive, the deadline differs
 * by at most a second: before the first alert it is never earlier, during an alert never later. The grace of the last alert is
 * not stored in the event: if blind time delayed that alert, it is repeated at once, and the repeats continue as before.
 */
export function rebuiltEntity(key: string, keepalive: StoredKeepalive | undefined, nowMs: number): ActorSnapshot {
  if (keepalive === undefined) return unmonitored(key);
  const { receivedAtS = Infinity, alert, ...timeouts } = keepalive;
  if (alert === undefined) return monitored(key, { ...timeouts, atMs: Math.min(nowMs, receivedAtS * 1_000 + 999) });
  const context: EntityContext = {
    ...contextOf(key, { ...timeouts, atMs: Math.min(nowMs, receivedAtS * 1_000) }),
    tickMs: nextTickMs(alert.silentS * 1_000, timeouts),
  };
  return { value: alert.status === 1 ? 'warning' : 'critical', context, version };
}

function unmonitored(key: string): ActorSnapshot {
  const nothing = { warningMs: 0, criticalMs: 0, intervalMs: 0, atMs: 0 };
  const context: EntityContext = { ...contextOf(key, nothing), tickMs: undefined };
  return { value: { registered: 'unmonitored' }, context, version };
}

const monitored = (key: string, keepalive: Keepalive): ActorSnapshot => ({
  value: { registered: 'monitored' },
  context: contextOf(key, keepalive),
  version,
});

const contextOf = (key: string, { warningMs, criticalMs, intervalMs, atMs }: Keepalive): EntityContext => ({
  key,
  warningMs,
  criticalMs,
  intervalMs,
  lastReceivedAtMs: atMs,
  tickMs: nextTickMs(0, { warningMs, criticalMs }),
  graceMs: 0,
});
