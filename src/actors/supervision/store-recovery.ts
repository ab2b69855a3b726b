import type { Log } from '../../ports/log.ts';
import type { LostKeys } from '../../store/commit/committer.ts';
import type { ActorKind, ActorKinds } from '../core/actor-kind.ts';
import { type Decider, internal, RESTORE } from '../core/decider.ts';
import type { DecisionContext } from '../core/decision-context.ts';
import type { TickBook } from '../core/tick-book.ts';
import type { SystemListeners } from '../core/system-listeners.ts';
import type { EntityRoom } from '../core/entity-room.ts';
import type { AgentPort } from '../agents/agent-port.ts';
import { SILENCE } from '../events/silences.ts';
import { restartSchedules } from '../schedules/schedules.ts';
import type { DeadlineQueue } from '../time/deadline-queue.ts';
import type { BlindInterval } from '../time/blind-time.ts';
import type { BlindRecorder } from './blind-recorder.ts';
import { missedTicksResult } from './missed-ticks-event.ts';
import { type OwnResult, restoreOwnEvent } from './own-event.ts';
import type { Quarantine } from './quarantine.ts';
import { quarantineResult } from './quarantine-event.ts';

export interface StoreRecoveryPorts {
  kinds: ActorKinds;
  decider: Pick<Decider, 'decide'>;
  deadlineQueue: Pick<DeadlineQueue, 'start' | 'stop' | 'rebuild'>;
  /** Arms a deadline again from its stored record. */
  armed: { rearm(actor: StoredActor, key: string): void };
  blindRecorder: Pick<BlindRecorder, 'add' | 'extend' | 'store'>;
  agents: Pick<AgentPort, 'endClosed' | 'recovered'>;
  listeners: Pick<SystemListeners, 'paused' | 'resumed'>;
  ticks: Pick<TickBook, 'storeLost' | 'missed'>;
  quarantine: Pick<Quarantine, 'quarantined'>;
  backendName: string;
  room: Pick<EntityRoom, 'storeLost'>;
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
  #missedStart: ((ctx: DecisionContext) => void) | undefined;

  constructor(ports: StoreRecoveryPorts) {
    this.#ports = ports;
  }

  /** The first decision of the process could not be stored: `takeOver` is decided again before everything else, until it is durable. */
  startMissed(takeOver: (ctx: DecisionContext) => void): void {
    this.#missedStart = takeOver;
  }

  /** A transaction failed: stops the deadlines, evicts the actors of the lost records and arms their deadlines as stored. */
  lost(keys: LostKeys, error: Error): void {
    const { deadlineQueue, agents, listeners, ticks, room, steadyMs, log } = this.#ports;
    ticks.storeLost();
    room.storeLost();
    log.error({ err: error }, 'store cannot be written');
    deadlineQueue.stop();
    this.#failedAtMs = steadyMs();
    listeners.paused();
    for (const actor of STORED_ACTORS) this.#revert(actor, LOST_KEYS[actor](keys));
    agents.endClosed(keys.sessions);
  }

  /** The store can be written again: records the time since the failure as blind time, and decides what waited meanwhile. */
  recovered(): void {
    const { deadlineQueue, agents, listeners, steadyMs, log } = this.#ports;
    const endMs = steadyMs();
    const interval = { beginMs: this.#failedAtMs ?? endMs, endMs };
    log.warn({ blind_ms: endMs - interval.beginMs }, 'store can be written again');
    if (this.#missedStart === undefined) this.#resume(interval);
    else this.#makeUpStart(interval, this.#missedStart);
    agents.recovered();
    deadlineQueue.rebuild();
    deadlineQueue.start();
    listeners.resumed();
  }

  #resume(interval: BlindInterval): void {
    const { kinds, decider, blindRecorder, quarantine, ticks } = this.#ports;
    blindRecorder.add(interval);
    decider.decide(internal('store.probed'), (ctx) => {
      blindRecorder.store(ctx, 'store.recovered', interval);
      restartSchedules(ctx, kinds['check-schedule']);
    });
    // They may have been lost with the transaction that failed.
    for (const result of [quarantineResult(quarantine.quarantined), missedTicksResult(ticks.missed)]) {
      this.#restoreOwnEvent(result);
    }
  }

  /** Logs an error instead of throwing it, so that the deadlines resume. */
  #restoreOwnEvent(result: OwnResult): void {
    const { decider, backendName, log } = this.#ports;
    try {
      decider.decide(internal('store.probed'), (ctx) => {
        restoreOwnEvent(ctx, backendName, result);
      });
    } catch (err) {
      log.error({ err, check: result.check }, 'an event of the backend cannot be stored');
    }
  }

  /** The process was down, then could not write: that is one blind interval, which ends now and which the start records. */
  #makeUpStart(interval: BlindInterval, takeOver: (ctx: DecisionContext) => void): void {
    const { decider, blindRecorder } = this.#ports;
    blindRecorder.extend(interval);
    decider.decide(RESTORE, takeOver).durable.then(
      () => {
        this.#missedStart = undefined;
      },
      // The store failed again: `lost` has been called, and `recovered` follows.
      () => undefined,
    );
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
