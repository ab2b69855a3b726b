import type { QueueStats } from '../../ports/queue-stats.ts';
import type { ActorKind, ActorKinds } from './actor-kind.ts';

/** Actors that can be woken from a record. */
const SLEEPERS = ['entity', 'check-ttl', 'connection'] as const satisfies ActorKind[];
/** Who was not needed for so many rounds goes to rest. */
const IDLE_ROUNDS = 60;
/** When too many are awake so large a part of them goes to rest at once: looking for them costs as much as waking some. */
const RELIEF = 0.1;

/**
 * Who of the actors is awake. Waking one costs as much as four events, so that they go to rest by idle time, and by a bound on
 * memory (a live actor takes about 2.5 kB), never with every event. Only between decisions: in one, the record of an actor may
 * not have been written yet.
 */
export class Eviction {
  readonly #kinds: ActorKinds;
  readonly #maxAwake: number;

  constructor(kinds: ActorKinds, maxAwake: number) {
    this.#kinds = kinds;
    this.#maxAwake = maxAwake;
  }

  get awake(): QueueStats {
    const { entity, 'check-ttl': ttl, connection } = this.#kinds;
    return { used: entity.awake + ttl.awake + connection.awake, limit: this.#maxAwake };
  }

  /** To be called at even intervals: rounds are counted in them. */
  beginRound(): void {
    for (const kind of SLEEPERS) this.#kinds[kind].evictIdle(IDLE_ROUNDS);
  }

  /** To be called after each decision. */
  keepBound(): void {
    const { entity, 'check-ttl': ttl, connection } = this.#kinds;
    const excess = entity.awake + ttl.awake + connection.awake - this.#maxAwake;
    if (excess <= 0) return;
    const [most] = SLEEPERS.map((kind) => this.#kinds[kind]).toSorted((one, other) => other.awake - one.awake);
    most?.evictSome(excess + Math.floor(this.#maxAwake * RELIEF));
  }
}
