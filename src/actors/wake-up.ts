import type { Log } from '../ports/log.ts';
import type { System } from '../resources/entity.ts';
import { SYSTEM_NAMESPACE } from '../resources/namespace.ts';
import { ALIVE_KEY } from '../store/committer.ts';
import type { SilenceRecord } from '../resources/silenced.ts';
import { afterPrefix, eventKey } from '../store/keyspace.ts';
import { CorruptRecord } from '../store/sealed.ts';
import type { TransactionalStore } from '../store/transactional-store.ts';
import type { AgentPort } from './agent-port.ts';
import type { BlindInterval, BlindTime } from './blind-time.ts';
import { ttlDeadline } from './check-ttls.ts';
import type { DeadlineWheel, StoredDeadline } from './deadline-wheel.ts';
import { keepaliveDeadline } from './keepalives.ts';
import type { ActorKinds } from './kinds.ts';
import { describeOwnEntity, ensureOwnEntity } from './own-entity.ts';
import { publishQuarantine, QUARANTINE_CHECK } from './quarantine-event.ts';
import { scheduleInput } from './schedules.ts';
import type { Scope } from './scope.ts';
import { SILENCE, silenceDeadline } from './silences.ts';

/** Where `meta` keeps the blind intervals. */
export const BLIND_KEY = 'blind';

/** Above every name. */
const END = '~';
const SILENCES = 'silenced/';

/** The last sign of life of the former process, in its steady time, ms; undefined before the first start. */
export function lastAliveMs(store: TransactionalStore): number | undefined {
  return store.get('meta', ALIVE_KEY) as number | undefined;
}

/** The time since the last sign of life of the former process, after the intervals that were known before. */
export function blindIntervals(store: TransactionalStore, nowMs: number): BlindInterval[] {
  const known = (store.get('meta', BLIND_KEY) as BlindInterval[] | undefined) ?? [];
  const aliveAtMs = lastAliveMs(store);
  return aliveAtMs === undefined ? known : [...known, { beginMs: aliveAtMs, endMs: nowMs }];
}

/** Arms every stored deadline without waking an actor, and drops blind time that no deadline counts from any more. */
export function armStoredDeadlines(
  store: TransactionalStore,
  { wheel, blind, log }: { wheel: DeadlineWheel; blind: BlindTime; log: Log },
): void {
  const arm = (actor: string, key: string, deadline: StoredDeadline | undefined): void => {
    if (deadline !== undefined) wheel.set(actor, key, deadline.atMs, deadline.sinceMs, deadline.repeat);
  };
  for (const key of store.keys('entities', { from: '', to: END })) {
    const record = readable(() => store.get('entities', key), log);
    if (record !== undefined) arm('entity', key, keepaliveDeadline(record.actor));
  }
  for (const key of store.keys('events', { from: '', to: END })) {
    const record = readable(() => store.get('events', key), log);
    if (record?.ttl !== undefined) arm('check-ttl', key, ttlDeadline(record.ttl));
  }
  for (const key of store.keys('resources', { from: SILENCES, to: afterPrefix(SILENCES) })) {
    const record = readable(() => store.get('resources', key) as SilenceRecord | undefined, log);
    if (record !== undefined) arm(SILENCE, key.slice(SILENCES.length), silenceDeadline(record));
  }
  blind.keepFirstAfter(wheel.inputsAtMs());
}

/** One record that is damaged must not keep the backend from starting: it is left out, and somebody must act. */
function readable<T>(read: () => T | undefined, log: Log): T | undefined {
  try {
    return read();
  } catch (err) {
    if (!(err instanceof CorruptRecord)) throw err;
    log.error({ err }, 'record is damaged and not monitored');
    return undefined;
  }
}

/** So that an alert that did not come is explained: nobody listened. */
export function recordBlindTime(scope: Scope, backendName: string, event: string, interval: BlindInterval): void {
  const blindMs = interval.endMs - interval.beginMs;
  scope.record({ actor: 'backend', key: backendName, from: 'blind', event, to: 'watching', details: { blindMs } });
}

export interface WakeUpPorts {
  blind: BlindTime;
  kinds: ActorKinds;
  agents: AgentPort;
  backendName: string;
  /** What the backend runs on; unknown when undefined. */
  machine?: System | undefined;
}

/** The first decision of a process: its own entity, its schedules, and an end for what the former process left open. */
export function takeOver(scope: Scope, { blind, kinds, agents, backendName, machine }: WakeUpPorts): void {
  scope.put('meta', BLIND_KEY, blind.intervals);
  const down = blind.intervals.at(-1);
  if (down !== undefined) recordBlindTime(scope, backendName, 'process.started', down);
  ensureOwnEntity(scope, backendName);
  if (machine !== undefined) describeOwnEntity(scope, backendName, machine);
  for (const key of scope.decision.keys('sessions', '')) agents.closeForgotten(scope, key);
  for (const key of scope.decision.keys('resources', 'checks/')) {
    const check = key.slice('checks/'.length);
    const input = scheduleInput(scope.decision, check, scope.nowMs);
    if (input !== undefined) kinds['check-schedule'].create(check, input);
  }
  const quarantine = scope.get('events', eventKey(SYSTEM_NAMESPACE, backendName, QUARANTINE_CHECK));
  if ((quarantine?.event.check.status ?? 0) !== 0) publishQuarantine(scope, backendName, []);
}
