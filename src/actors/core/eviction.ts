import type { QueueStats } from '../../ports/queue-stats.ts';
import type { ActorKind, ActorKinds } from './actor-kind.ts';

/** Actors that can be woken from a record. */
const EVICTABLE = ['entity', 'check-ttl', 'connection'] as const satisfies ActorKind[];
/** An actor that was not used in this many rounds is evicted. */
const IDLE_ROUNDS = 60;
/** Beyond the limit, this fraction of it is evicted at once: finding the idle actors costs as much as waking a few. */
const RELIEF = 0.1;

/** The states of events that are kept in memory beside the actors. */
interface KeptEvents {
  /** Forgets those that had no result since the last call. */
  forgetIdleEvents(): void;
}

/**
 * Evicts actors from memory, by idle time and by a limit on their number (an awake actor takes about 2.5 kB). It never evicts an
 * actor with each event, because waking one costs as much as four events, and it evicts only between decisions: during one, the
 * record of an actor may not have been written yet.
 */
export class Eviction {
  readonly #kinds: ActorKinds;
  readonly #maxAwake: number;
  readonly #kept: KeptEvents | undefined;
  #round = 0;

  constructor(kinds: ActorKinds, maxAwake: number, kept?: KeptEvents) {
    this.#kinds = kinds;
    this.#maxAwake = maxAwake;
    this.#kept = kept;
  }

  /** The actors that can be evicted, and their limit. */
  get awake(): QueueStats {
    const { entity, 'check-ttl': ttl, connection } = this.#kinds;
    return { used: entity.awake + ttl.awake + connection.awake, limit: this.#maxAwake };
  }

  /** Evicts idle actors, and forgets the states of idle events. Call it at even intervals: idle time is counted in calls. */
  beginRound(): void {
    for (const kind of EVICTABLE) this.#kinds[kind].evictIdle(IDLE_ROUNDS);
    this.#round += 1;
    if (this.#round % IDLE_ROUNDS === 0) this.#kept?.forgetIdleEvents();
  }

  /** Evicts actors beyond the limit. Call it after each decision. */
  keepBound(): void {
    const { entity, 'check-ttl': ttl, connection } = this.#kinds;
    const excess = entity.awake + ttl.awake + connection.awake - this.#maxAwake;
    if (excess <= 0) return;
    const [most] = EVICTABLE.map((kind) => this.#kinds[kind]).toSorted((one, other) => other.awake - one.awake);
    most?.evictSome(excess + Math.floor(this.#maxAwake * RELIEF));
  }
}
