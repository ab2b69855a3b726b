import type { CheckEvent } from '../resources/event.ts';
import { type Incident, isOpen, resultMark } from '../rules/incident.ts';
import { countKeys } from './key-pages.ts';
import { afterPrefix, eventKey, keyAfter } from './encoding/keyspace.ts';
import { type EventRecord, eventOf } from './records/records.ts';
import type { RangeReader } from './commit/transactional-store.ts';
import { VisibleStore } from './visible-store.ts';

/** An event that fails or flaps, with its incident. */
export interface OpenEvent {
  event: CheckEvent;
  incident: Incident;
  /** Whether it is the alert of a check TTL. */
  isTtlExpired: boolean;
}

/** The open events of a namespace, or of one entity in it. */
export interface OpenEvents {
  namespace: string;
  entity?: string;
}

const DELETIONS = { from: '', to: '~', limit: 1 };

/** The durable open events. Passing events are not read. */
export class IncidentStore {
  readonly #store: RangeReader;
  readonly #visible: VisibleStore;

  constructor(store: RangeReader) {
    this.#store = store;
    this.#visible = new VisibleStore(store);
  }

  /** Undefined when the entity and check have no event, or their event is not open. */
  get(namespace: string, entity: string, check: string): OpenEvent | undefined {
    return this.#read(eventKey(namespace, entity, check));
  }

  /** The incident alone, without its event. */
  incidentOf(namespace: string, entity: string, check: string): Incident | undefined {
    return this.#store.get('incidents', eventKey(namespace, entity, check));
  }

  /** Whether the result of an event was deleted while the event stayed. */
  isResultDeleted(event: CheckEvent): boolean {
    const { entity, check } = event;
    if (!isOpen(check.status, check.state)) return false;
    const { namespace = '', name = '' } = entity.metadata;
    return this.incidentOf(namespace, name, check.metadata.name ?? '')?.deletedResult === resultMark(event);
  }

  /**
   * Lists open events in the order of their keys, those with a key after `after`, and reads one at a time. Events that change
   * meanwhile may be missed.
   */
  *list(
    scope: OpenEvents,
    { offset = 0, limit = Infinity, after }: { offset?: number; limit?: number; after?: string | undefined } = {},
  ): Iterable<OpenEvent> {
    const { from: start, to } = rangeOf(scope);
    const from = after === undefined ? start : keyAfter(after);
    const isCounted = this.#hasDeletions();
    let skipped = 0;
    let listed = 0;
    let position: { from: string; offset: number } | undefined = { from, offset: isCounted ? 0 : offset };
    while (position !== undefined && listed < limit) {
      const [key] = this.#store.keys('incidents', { ...position, to, limit: 1 });
      if (key === undefined) return;
      position = { from: keyAfter(key), offset: 0 };
      const open = this.#read(key);
      if (open === undefined) continue;
      if (isCounted && skipped < offset) {
        skipped += 1;
        continue;
      }
      listed += 1;
      yield open;
    }
  }

  /** The number of open events. While a deletion is pending, it reads each of them. */
  count(scope: OpenEvents): number {
    let count = 0;
    if (this.#hasDeletions()) {
      for (const key of this.#store.keys('incidents', rangeOf(scope))) {
        if (this.#isVisible(key)) count += 1;
      }
      return count;
    }
    const keys = this.#store.keys('incidents', rangeOf(scope))[Symbol.iterator]();
    while (keys.next().done !== true) count += 1;
    return count;
  }

  /** The number of open events, as `count`. It yields to other work, and ends early when `isDisconnected` is true. */
  countInSteps(scope: OpenEvents, isDisconnected?: () => boolean): Promise<number> {
    const isCounted = this.#hasDeletions() ? this.#isVisible.bind(this) : undefined;
    return countKeys(this.#store, { table: 'incidents', prefix: rangeOf(scope).from, isCounted, isDisconnected });
  }

  #isVisible(key: string): boolean {
    return this.#visible.get('events', key) !== undefined;
  }

  #read(key: string): OpenEvent | undefined {
    const record = this.#visible.get('events', key);
    const incident = this.#store.get('incidents', key);
    if (record === undefined || incident === undefined) return undefined;
    const event = eventOf(record);
    if (!isOpen(event.check.status, event.check.state)) return undefined;
    return { event, incident, isTtlExpired: isExpired(record) };
  }

  #hasDeletions(): boolean {
    const [first] = this.#store.keys('deletions', DELETIONS);
    return first !== undefined;
  }
}

/** A check TTL that is armed is registered; its alert makes it warning or critical. */
const isExpired = ({ ttl }: EventRecord): boolean => ttl !== undefined && ttl.value !== 'registered';

function rangeOf({ namespace, entity }: OpenEvents): { from: string; to: string } {
  const prefix = entity === undefined ? `${namespace}/` : `${namespace}/${entity}/`;
  return { from: prefix, to: afterPrefix(prefix) };
}
