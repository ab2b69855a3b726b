import {
  afterPrefix,
  eventAddress,
  eventOfNotification,
  keyAfter,
  NOTIFICATION_FLOORS,
  numberOfEventNotification,
} from '../../store/encoding/keyspace.ts';
import { readResource } from '../../store/resource-store.ts';
import type { TransactionalStore } from '../../store/commit/transactional-store.ts';
import type { RemovableNotification } from '../events/forget-notifications.ts';

/** The outcomes of an existing event that are kept at any age. */
export const MIN_KEPT_OF_EVENT = 20;
/** The outcomes that are kept of one event. The oldest are removed when there are more. */
export const MAX_KEPT_OF_EVENT = 1_000;
/** Keys that one step reads, which bounds its duration. */
const KEYS_PER_STEP = 1_000;
const NUMBERS_PER_MS = 1_000;
/** Above every key. */
const END = '~';

/** When notifications are removed. */
export interface SweepLimits {
  /** Notifications whose last outcome was before this time are removed, Unix ms. */
  oldBeforeMs: number;
  /** Whether old ones of existing events go too, because all together are too many. */
  isTight: boolean;
}

export interface SweepStep {
  forgettable: RemovableNotification[];
  /** Whether the sweep is at its end and begins again. */
  isEnd: boolean;
  /** The floors that the sweep has reached, under their keys in `meta`. */
  floors: ReadonlyMap<string, number>;
}

/** Walks through the index of notifications by event, from its end to its beginning, so that the newest of each event come first. */
export class NotificationSweep {
  readonly #store: TransactionalStore;
  #to = END;
  #event = '';
  /** The notifications of the event that were passed. */
  #passed = 0;
  #exists: boolean | undefined;
  /** The numbers up to which the notifications of the namespace are removed. */
  #floor = 0;
  /** The floors of namespaces at the beginning of the sweep, under their keys in `meta`. */
  #floors = new Map<string, number>();

  constructor(store: TransactionalStore) {
    this.#store = store;
  }

  /** The notifications among the next few that are to be removed, judging by their keys alone. */
  step(limits: SweepLimits): SweepStep {
    if (this.#to === END) this.#floors = this.#readFloors();
    const range = { from: '', to: this.#to, limit: KEYS_PER_STEP, isReversed: true };
    const keys = [...this.#store.keys('notificationsByEvent', range)];
    const forgettable = keys.flatMap((key) => this.#forgettable(key, limits) ?? []);
    const last = keys.at(-1);
    const isEnd = last === undefined || keys.length < KEYS_PER_STEP;
    this.#to = last ?? END;
    if (isEnd) this.restart();
    return { forgettable, isEnd, floors: isEnd ? this.#floors : new Map<string, number>() };
  }

  /** Begins again, because what a step found could not be removed: floors must stay until everything below them is gone. */
  restart(): void {
    this.#to = END;
    this.#event = '';
  }

  #readFloors(): Map<string, number> {
    const range = { from: NOTIFICATION_FLOORS, to: afterPrefix(NOTIFICATION_FLOORS) };
    return new Map([...this.#store.range('meta', range)].map(({ key, value }) => [key, value as number]));
  }

  #forgettable(key: string, { oldBeforeMs, isTight }: SweepLimits): RemovableNotification | undefined {
    const event = eventOfNotification(key);
    if (event !== this.#event) this.#begin(event);
    this.#passed += 1;
    if (numberOfEventNotification(key) <= this.#floor) return { key, beforeMs: undefined };
    if (this.#passed > MAX_KEPT_OF_EVENT) return { key, beforeMs: Infinity };
    if (numberOfEventNotification(key) >= oldBeforeMs * NUMBERS_PER_MS) return undefined;
    const isLast = this.#passed <= MIN_KEPT_OF_EVENT && !isTight && this.#eventExists();
    return isLast ? undefined : { key, beforeMs: oldBeforeMs };
  }

  #begin(event: string): void {
    const { namespace } = eventAddress(event);
    const isSameNamespace = this.#event.startsWith(`${namespace}/`);
    this.#event = event;
    this.#passed = 0;
    this.#exists = undefined;
    if (isSameNamespace) return;
    const exists = readResource(this.#store, 'namespaces', undefined, namespace) !== undefined;
    this.#floor = exists ? (this.#floors.get(NOTIFICATION_FLOORS + namespace) ?? 0) : Infinity;
  }

  #eventExists(): boolean {
    this.#exists ??=
      [...this.#store.keys('events', { from: this.#event, to: keyAfter(this.#event), limit: 1 })].length > 0;
    return this.#exists;
  }
}
