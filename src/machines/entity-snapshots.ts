import { type KeepaliveTimeouts, nextTickMs } from '../rules/keepalive-ticks.ts';
import { elapsedAtAlertMs } from '../rules/alert-output.ts';
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
  /** The last alert, if the agent has been silent since then, with the length of the silence that it names and its grace. */
  alert: { status: number; silentS: number; graceMs: number } | undefined;
}

/**
 * Rebuilds the snapshot from domain data, to replace a stored one that cannot be used: unmonitored without `keepalive`, otherwise
 * in the state of the last alert, with the deadline after it. The deadline differs by at most a second: before the first alert it
 * is never earlier, and during an alert without grace never later.
 */
export function rebuiltEntity(key: string, keepalive: StoredKeepalive | undefined, nowMs: number): ActorSnapshot {
  if (keepalive === undefined) return unmonitored(key);
  const { receivedAtS = Infinity, alert, ...timeouts } = keepalive;
  if (alert === undefined) return monitored(key, { ...timeouts, atMs: Math.min(nowMs, receivedAtS * 1_000 + 999) });
  const context: EntityContext = {
    ...contextOf(key, { ...timeouts, atMs: Math.min(nowMs, receivedAtS * 1_000) }),
    tickMs: nextTickMs(elapsedAtAlertMs(alert), timeouts),
    graceMs: alert.graceMs,
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
