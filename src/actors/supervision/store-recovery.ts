import type { Log } from '../../ports/log.ts';
import type { LostKeys } from '../../store/committer.ts';
import type { ActorKind, ActorKinds } from '../core/actor-kind.ts';
import { type Decider, internal } from '../core/decider.ts';
import type { SystemListeners } from '../core/system-listeners.ts';
import type { AgentPort } from '../agents/agent-port.ts';
import { SILENCE } from '../events/silences.ts';
import { restartSchedules } from '../schedules/schedules.ts';
import type { DeadlineQueue } from '../time/deadline-queue.ts';
import type { BlindRecorder } from './blind-recorder.ts';

export interface StoreRecoveryPorts {
  kinds: ActorKinds;
  decider: Pick<Decider, 'decide'>;
  deadlineQueue: Pick<DeadlineQueue, 'start' | 'stop' | 'rebuild'>;
  /** Arms a deadline again from its stored record. */
  armed: { rearm(actor: StoredActor, key: string): void };
  blindRecorder: Pick<BlindRecorder, 'add' | 'store'>;
  agents: Pick<AgentPort, 'recovered'>;
  listeners: Pick<SystemListeners, 'paused' | 'resumed'>;
  /** Steady time, ms. */
  steadyMs(): number;
  log: Log;
}

/** An actor with a key, or a silence, which has a stored deadline but no machine. */
type StoredActor = ActorKind | typeof SILENCE;

/** Selects the keys of each kind of actor from the keys of the records that were lost. */
const LOST_KEYS: Readonly<Record<StoredActor, (lost: LostKeys) => Iterable<string>>> = {
  entity: ({ entities }) => entities,
  'check-ttl': ({ events }) => events,
  connection: ({ sessions }) => sessions,
  'check-schedule': ({ resources }) => keysUnder('checks/', resources),
  [SILENCE]: ({ resources }) => keysUnder('silenced/', resources),
};
const STORED_ACTORS = Object.keys(LOST_KEYS) as StoredActor[];

/**
 * Handles a store that cannot be written. When a transaction fails, it evicts the actors of the lost records, so that they wake from
 * what is stored. When the store can be written again, it resumes the deadlines.
 */
export class StoreRecovery {
  readonly #ports: StoreRecoveryPorts;
  #failedAtMs: number | undefined;

  constructor(ports: StoreRecoveryPorts) {
    this.#ports = ports;
  }

  /** A transaction failed: stops the deadlines, evicts the actors of the lost records and arms their deadlines as stored. */
  lost(keys: LostKeys, error: Error): void {
    const { deadlineQueue, listeners, steadyMs, log } = this.#ports;
    log.error({ err: error }, 'store cannot be written');
    deadlineQueue.stop();
    this.#failedAtMs = steadyMs();
    listeners.paused();
    for (const actor of STORED_ACTORS) this.#revert(actor, LOST_KEYS[actor](keys));
  }

  /** The store can be written again: records the time since the failure as blind time, and decides what waited meanwhile. */
  recovered(): void {
    const { kinds, decider, deadlineQueue, blindRecorder, agents, listeners, steadyMs, log } = this.#ports;
    const endMs = steadyMs();
    const interval = { beginMs: this.#failedAtMs ?? endMs, endMs };
    blindRecorder.add(interval);
    log.warn({ blind_ms: endMs - interval.beginMs }, 'store can be written again');
    decider.decide(internal('store.probed'), (ctx) => {
      blindRecorder.store(ctx, 'store.recovered', interval);
      restartSchedules(ctx, kinds['check-schedule']);
    });
    agents.recovered();
    deadlineQueue.rebuild();
    deadlineQueue.start();
    listeners.resumed();
  }

  #revert(actor: StoredActor, keys: Iterable<string>): void {
    const { kinds, armed } = this.#ports;
    for (const key of keys) {
      if (actor !== SILENCE) kinds[actor].evict(key);
      armed.rearm(actor, key);
    }
  }
}

/** Returns the keys that begin with `prefix`, without the prefix. */
function keysUnder(prefix: string, keys: Iterable<string>): string[] {
  return [...keys].filter((key) => key.startsWith(prefix)).map((key) => key.slice(prefix.length));
}
