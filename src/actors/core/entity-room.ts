import { LRUCache } from 'lru-cache';
import { atMost } from '../../ports/at-most.ts';
import type { QueueStats } from '../../ports/queue-stats.ts';
import { EntityFull, type EntityBound } from '../../resources/errors.ts';
import type { EventSize } from '../../store/records/event-sizes.ts';

/**
 * The maximum number of entities whose measured sizes are kept. Beyond it the one that was used longest ago is measured
 * again at its next use.
 */
const MAX_MEASURED_ENTITIES = 10_000;
/** The maximum number of entities that count as full. Beyond it the one that was refused longest ago is forgotten. */
const MAX_REMEMBERED_FULL = 1_000;
/** The time for which an entity counts as full after a refusal. */
const FULL_MS = 3_600_000;
/** The shortest time between two measurements of an entity, so that refused results cost little. */
const MEASURE_INTERVAL_MS = 10_000;
/** The number of checks that `bytes` is divided by when the number of checks has no limit. */
const USUAL_CHECKS = 10_000;

/** The limits of the stored results of one entity; 0 = no limit. */
export interface EntityUseLimits {
  readonly checks: number;
  readonly bytes: number;
}

/** A result that a client or an agent sends. */
export interface SentResult {
  /** The key of the entity, `<namespace>/<name>`. */
  entity: string;
  /** The key of the event. */
  key: string;
  /** Whether the check has no stored result of the entity. */
  isNew: boolean;
  /** An upper limit of the size, if one is known without measuring. */
  atMostBytes: number | undefined;
  /** The size of what is stored. */
  bytes(): number;
  /** Steady time. */
  atMs: number;
}

interface Use {
  checks: number;
  /** The sizes of the large results, by the keys of their events. */
  large: Map<string, number>;
  largeBytes: number;
  measuredAtMs: number;
  /** Whether results were added since the measurement, which a lost transaction may have dropped. */
  isChanged: boolean;
}

/**
 * Bounds the checks and the bytes of the results that are stored of one entity. A known check whose result is small is always
 * accepted, so that an entity that is full still reports: a result is small up to the limit of bytes divided by the limit of checks.
 */
export class EntityRoom {
  readonly refused: Record<EntityBound, number> = { checks: 0, bytes: 0 };
  readonly #limits: EntityUseLimits;
  readonly #smallBytes: number;
  readonly #measure: (prefix: string) => Iterable<EventSize>;
  readonly #uses = new LRUCache<string, Use>(atMost(MAX_MEASURED_ENTITIES));
  /** When a result of an entity was last refused, the earliest first. */
  readonly #full = new Map<string, number>();

  /** `measure` returns the sizes of the events whose keys begin with a prefix, with those that are not durable yet. */
  constructor(limits: EntityUseLimits, measure: (prefix: string) => Iterable<EventSize>) {
    const { checks, bytes } = limits;
    this.#limits = limits;
    this.#smallBytes = bytes === 0 ? Infinity : Math.floor(bytes / (checks === 0 ? USUAL_CHECKS : checks));
    this.#measure = measure;
  }

  get measured(): QueueStats {
    return { used: this.#uses.size, limit: MAX_MEASURED_ENTITIES };
  }

  /** The number of entities whose results were refused within an hour. */
  fullAt(atMs: number): number {
    for (const [entity, refusedAtMs] of this.#full) {
      if (atMs - refusedAtMs < FULL_MS) break;
      this.#full.delete(entity);
    }
    return this.#full.size;
  }

  /** Counts a result that is about to be stored. @throws EntityFull when the entity has no room for it */
  add(result: SentResult): void {
    const { checks, bytes } = this.#limits;
    const isCounted = result.isNew && checks > 0;
    const isLarge = (result.atMostBytes ?? Infinity) > this.#smallBytes && result.bytes() > this.#smallBytes;
    if (!isLarge) this.#shrunk(result);
    if (!isCounted && !isLarge) return;
    const size = isLarge ? result.bytes() : 0;
    let use = this.#useOf(result);
    let bound = exceeded(use, result, { checks, bytes }, size);
    if (bound !== undefined && use.isChanged && result.atMs - use.measuredAtMs >= MEASURE_INTERVAL_MS) {
      use = this.#measured(result);
      bound = exceeded(use, result, { checks, bytes }, size);
    }
    if (bound !== undefined) throw this.#refusal(result, bound);
    use.isChanged = true;
    if (result.isNew) use.checks += 1;
    if (isLarge) {
      use.largeBytes += size - (use.large.get(result.key) ?? 0);
      use.large.set(result.key, size);
    }
  }

  /** An event of the entity was deleted: it is measured again when that matters. */
  removed(entity: string): void {
    this.#uses.delete(entity);
  }

  /** Decisions were lost. */
  storeLost(): void {
    this.#uses.clear();
  }

  /** Forgets the size of a large result that a small one replaces. */
  #shrunk({ entity, key, isNew }: SentResult): void {
    const use = isNew ? undefined : this.#uses.peek(entity);
    const bytes = use?.large.get(key);
    if (use === undefined || bytes === undefined) return;
    use.largeBytes -= bytes;
    use.large.delete(key);
  }

  #useOf(result: SentResult): Use {
    return this.#uses.get(result.entity) ?? this.#measured(result);
  }

  #measured({ entity, atMs }: SentResult): Use {
    const use: Use = { checks: 0, large: new Map(), largeBytes: 0, measuredAtMs: atMs, isChanged: false };
    for (const { key, bytes } of this.#measure(`${entity}/`)) {
      use.checks += 1;
      if (bytes <= this.#smallBytes) continue;
      use.large.set(key, bytes);
      use.largeBytes += bytes;
    }
    this.#uses.set(entity, use);
    return use;
  }

  #refusal({ entity, atMs }: SentResult, bound: EntityBound): EntityFull {
    this.refused[bound] += 1;
    this.#full.delete(entity);
    this.#full.set(entity, atMs);
    if (this.#full.size > MAX_REMEMBERED_FULL) {
      for (const [earliest] of this.#full) {
        this.#full.delete(earliest);
        break;
      }
    }
    return new EntityFull(entity, bound, this.#limits[bound]);
  }
}

function exceeded(
  use: Use,
  { key, isNew }: SentResult,
  limits: EntityUseLimits,
  size: number,
): EntityBound | undefined {
  if (isNew && limits.checks > 0 && use.checks >= limits.checks) return 'checks';
  if (size > 0 && use.largeBytes - (use.large.get(key) ?? 0) + size > limits.bytes) return 'bytes';
  return undefined;
}
