import type { ActorSnapshot } from '../machines/actor-snapshot.ts';
import { agentConnectionMachine, type ConnectionContext } from '../machines/agent-connection.ts';
import type { ScheduleContext } from '../machines/check-schedule.ts';
import type { SilenceRecord } from '../resources/silenced.ts';
import type { TableReader } from '../store/commit/decision.ts';
import { ttlDeadline } from './events/ttl-deadline.ts';
import { NO_INPUT, type StoredDeadline } from './time/deadline-queue.ts';
import { keepaliveDeadline } from './agents/keepalives.ts';
import type { ActorKind } from './core/actor-kind.ts';
import { scheduleInput } from './schedules/schedules.ts';
import { SILENCE, silenceDeadline } from './events/silences.ts';

/** The deadline that follows from the stored record of a key; undefined when there is none. `nowMs` is wall clock time. */
export function storedDeadline(
  reader: TableReader,
  actor: ActorKind | typeof SILENCE,
  key: string,
  nowMs: number,
): StoredDeadline | undefined {
  switch (actor) {
    case 'entity': {
      const snapshot = reader.get('entities', key)?.actor;
      return snapshot && keepaliveDeadline(snapshot);
    }
    case 'check-ttl': {
      const snapshot = reader.get('events', key)?.ttl;
      return snapshot && ttlDeadline(snapshot);
    }
    case 'connection': {
      const snapshot = reader.get('sessions', key)?.actor;
      return snapshot && connectionDeadline(snapshot);
    }
    case 'check-schedule': {
      const input = scheduleInput(reader, key, nowMs);
      return input && { atMs: input.firstTickAtMs, sinceMs: NO_INPUT };
    }
    case SILENCE: {
      const record = reader.get('resources', `silenced/${key}`) as SilenceRecord | undefined;
      return record && silenceDeadline(record);
    }
  }
}

/** The deadline of the snapshot of a connection; one of another machine version is due at once. */
export function connectionDeadline({ context, version }: ActorSnapshot): StoredDeadline {
  const isCurrent = version === agentConnectionMachine.version;
  return { atMs: isCurrent ? (context as ConnectionContext).deadlineAtMs : 0, sinceMs: NO_INPUT };
}

/** The deadline of the snapshot of a schedule; undefined while that deadline is being decided. */
export function scheduleDeadline({ context }: ActorSnapshot): StoredDeadline | undefined {
  const { nextTickAtMs: atMs } = context as ScheduleContext;
  return atMs === undefined ? undefined : { atMs, sinceMs: NO_INPUT };
}
