import type { Log } from '../../ports/log.ts';
import type { QueueStats } from '../../ports/queue-stats.ts';

/** Aggregates with members. Those of one namespace leave room for others. */
const MAX_AGGREGATE_NAMES = 50_000;
const MAX_AGGREGATE_NAMES_OF_NAMESPACE = 45_000;
/** Memberships of results. Those of one namespace, and of one entity, leave room for others. */
const MAX_MEMBERS = 1_000_000;
const MAX_MEMBERS_OF_NAMESPACE = 900_000;
const MAX_MEMBERS_OF_ENTITY = 10_000;

/** A requested membership. `isNew`: it would be the first one of its aggregate. */
export interface RequestedMembership {
  namespace: string;
  entity: string;
  aggregate: string;
  isNew: boolean;
}

/** Counts aggregates and memberships, and refuses those beyond the bounds. */
export class AggregateBounds {
  readonly #log: Pick<Log, 'warn'>;
  readonly #named = new Counts();
  readonly #members = new Counts();
  /** Memberships by entity, for each namespace. */
  readonly #ofEntities = new Map<string, Counts>();
  #refusedNames = 0;
  #refusedMembers = 0;

  constructor(log: Pick<Log, 'warn'>) {
    this.#log = log;
  }

  get named(): QueueStats {
    return { used: this.#named.all, limit: MAX_AGGREGATE_NAMES, refused: this.#refusedNames };
  }

  get members(): QueueStats {
    return { used: this.#members.all, limit: MAX_MEMBERS, refused: this.#refusedMembers };
  }

  /** Counts a membership. Returns false at a bound; the first time, the log has a warning. */
  admit(asked: RequestedMembership): boolean {
    const { namespace, entity, isNew } = asked;
    const ofEntity = this.#ofEntities.get(namespace) ?? new Counts();
    if (isNew && this.#named.isFull(namespace, MAX_AGGREGATE_NAMES, MAX_AGGREGATE_NAMES_OF_NAMESPACE)) {
      this.#refusedNames += 1;
      this.#warn(asked);
      return false;
    }
    const isFull =
      this.#members.isFull(namespace, MAX_MEMBERS, MAX_MEMBERS_OF_NAMESPACE) ||
      ofEntity.isFull(entity, Infinity, MAX_MEMBERS_OF_ENTITY);
    if (isFull) {
      this.#refusedMembers += 1;
      this.#warn(asked);
      return false;
    }
    this.#members.add(namespace, 1);
    ofEntity.add(entity, 1);
    this.#ofEntities.set(namespace, ofEntity);
    if (isNew) this.#named.add(namespace, 1);
    return true;
  }

  /** Counts a membership that ended. `isLast`: its aggregate has no members any more. */
  release(namespace: string, entity: string, isLast: boolean): void {
    this.#members.add(namespace, -1);
    const ofEntity = this.#ofEntities.get(namespace);
    ofEntity?.add(entity, -1);
    if (ofEntity?.all === 0) this.#ofEntities.delete(namespace);
    if (isLast) this.#named.add(namespace, -1);
  }

  /** Counts that all memberships of a namespace ended. */
  releaseAll(namespace: string): void {
    this.#members.remove(namespace);
    this.#named.remove(namespace);
    this.#ofEntities.delete(namespace);
  }

  #warn({ namespace, entity, aggregate }: RequestedMembership): void {
    if (this.#refusedNames + this.#refusedMembers > 1) return;
    const fields = { namespace, entity, aggregate };
    this.#log.warn(
      fields,
      'result did not join an aggregate, a limit is reached: use fewer aggregates, see mon_queue_refused_total',
    );
  }
}

class Counts {
  readonly #byKey = new Map<string, number>();
  all = 0;

  isFull(key: string, limit: number, limitOfKey: number): boolean {
    return this.all >= limit || (this.#byKey.get(key) ?? 0) >= limitOfKey;
  }

  add(key: string, by: 1 | -1): void {
    this.all += by;
    const count = (this.#byKey.get(key) ?? 0) + by;
    if (count === 0) this.#byKey.delete(key);
    else this.#byKey.set(key, count);
  }

  remove(key: string): void {
    this.all -= this.#byKey.get(key) ?? 0;
    this.#byKey.delete(key);
  }
}
