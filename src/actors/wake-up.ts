import type { Log } from '../ports/log.ts';
import { ALIVE_KEY } from '../store/committer.ts';
import { eventKey } from '../store/keyspace.ts';
import { CorruptRecord } from '../store/sealed.ts';
import type { TransactionalStore } from '../store/transactional-store.ts';
import type { AgentPort } from './agent-port.ts';
import type { BlindInterval, BlindTime } from './blind-time.ts';
import { ttlDeadline } from './check-ttls.ts';
import type { DeadlineWheel } from './deadline-wheel.ts';
import { keepaliveDeadline } from './keepalives.ts';
import type { ActorKinds } from './kinds.ts';
import { ensureOwnEntity, SYSTEM_NAMESPACE } from './own-entity.ts';
import { publishQuarantine, QUARANTINE_CHECK } from './quarantine-event.ts';
import { scheduleInput } from './schedules.ts';
import type { Scope } from './scope.ts';

/** Where `meta` keeps the blind intervals. */
export const BLIND_KEY = 'blind';

/** Above every name. */
const END = '~';

/** The time since the last sign of life of the former process, after the intervals that were known before. */
export function blindIntervals(store: TransactionalStore, nowMs: number): BlindInterval[] {
  const known = (store.get('meta', BLIND_KEY) as BlindInterval[] | undefined) ?? [];
  const aliveAtMs = store.get('meta', ALIVE_KEY);
  return typeof aliveAtMs === 'number' ? [...known, { beginMs: aliveAtMs, endMs: nowMs }] : known;
}

/** Arms every stored deadline without waking an actor, and drops blind time that no deadline counts from any more. */
export function armStoredDeadlines(
  store: TransactionalStore,
  { wheel, blind, log }: { wheel: DeadlineWheel; blind: BlindTime; log: Log },
): void {
  const inputsAtMs = new Set<number>();
  const arm = (actor: string, key: string, deadline: { atMs: number; sinceMs: number } | undefined): void => {
    if (deadline === undefined) return;
    inputsAtMs.add(deadline.sinceMs);
    wheel.set(actor, key, deadline.atMs, deadline.sinceMs);
  };
  for (const key of store.keys('entities', { from: '', to: END })) {
    const record = readable(() => store.get('entities', key), log);
    if (record !== undefined) arm('entity', key, keepaliveDeadline(record.actor));
  }
  for (const key of store.keys('events', { from: '', to: END })) {
    const record = readable(() => store.get('events', key), log);
    if (record?.ttl !== undefined) arm('check-ttl', key, ttlDeadline(record.ttl));
  }
  blind.keepFirstAfter(inputsAtMs);
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

export interface WakeUpPorts {
  blind: BlindTime;
  kinds: ActorKinds;
  agents: AgentPort;
  backendName: string;
}

/** The first decision of a process: its own entity, its schedules, and an end for what the former process left open. */
export function takeOver(scope: Scope, { blind, kinds, agents, backendName }: WakeUpPorts): void {
  scope.put('meta', BLIND_KEY, blind.intervals);
  ensureOwnEntity(scope, backendName);
  for (const key of scope.decision.keys('sessions', '')) agents.closeForgotten(scope, key);
  for (const key of scope.decision.keys('resources', 'checks/')) {
    const check = key.slice('checks/'.length);
    const input = scheduleInput(scope.decision, check, scope.nowMs);
    if (input !== undefined) kinds['check-schedule'].create(check, input);
  }
  const quarantine = scope.get('events', eventKey(SYSTEM_NAMESPACE, backendName, QUARANTINE_CHECK));
  if ((quarantine?.event.check.status ?? 0) !== 0) publishQuarantine(scope, backendName, []);
}
