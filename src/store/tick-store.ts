import type { TickStreak } from '../rules/tick-streaks.ts';
import {
  agentTicksKey,
  checkTicksKey,
  entityKey,
  entityTicksKey,
  eventKey,
  OUTAGES_KEY,
  tickHistoryKey,
} from './encoding/keyspace.ts';
import type { TickRecord } from './records/records.ts';
import { readResource } from './resource-store.ts';
import type { TableReader } from './records/table-reader.ts';
import type { EntityTicks } from '../rules/entity-ticks.ts';

/** Reads the durable records of ticks. */
export class TickStore {
  readonly #store: TableReader;

  /** `store` is without the events that pending deletions hide. */
  constructor(store: TableReader) {
    this.#store = store;
  }

  /** The streaks of a check that end at `sinceMs` or later, in the order of their first ticks; undefined when it has no record. */
  ofCheck(namespace: string, check: string, sinceMs: number): TickStreak[] | undefined {
    const key = checkTicksKey(entityKey(namespace, check));
    const record = this.#store.get('ticks', key);
    return record && this.#streaks(key, record, sinceMs);
  }

  /** The first tick of a check without a record, Unix ms; undefined when the check has no record or no next tick. */
  nextOf(namespace: string, check: string): number | undefined {
    return this.#store.get('ticks', checkTicksKey(entityKey(namespace, check)))?.next?.atMs;
  }

  /** The record of the ticks of a check that concern one entity. */
  ofEntity(namespace: string, check: string, entity: string, sinceMs: number): EntityTicks {
    const key = eventKey(namespace, entity, check);
    const ticksKey = entityTicksKey(key);
    const record = this.#store.get('ticks', ticksKey);
    const ran = this.#store.get('events', key)?.ran;
    const own = record === undefined ? [] : this.#streaks(ticksKey, record, 0);
    const last = ran && { outcome: 'ran' as const, fromMs: ran[0], toMs: ran[1], everyMs: ran[2] };
    const agentKey = agentTicksKey(entityKey(namespace, entity));
    const agent = this.#store.get('ticks', agentKey);
    return {
      own: sorted(last === undefined ? own : [...own, last]),
      away: agent === undefined ? [] : this.#streaks(agentKey, agent, sinceMs),
      awaySinceMs: agent?.awaySinceMs,
      outages: this.#store.get('ticks', OUTAGES_KEY)?.streaks ?? [],
      isSubscribed: this.#isSubscribed(namespace, check, entity),
    };
  }

  #streaks(key: string, record: TickRecord, sinceMs: number): TickStreak[] {
    const { history } = record;
    // The first record that can reach `sinceMs` is the one before the first that begins after it.
    const first = Math.max(
      0,
      history.findLastIndex((id) => id <= sinceMs),
    );
    const older = history
      .slice(first)
      .flatMap((id) => this.#store.get('ticks', tickHistoryKey(key, id))?.streaks ?? []);
    return sorted([...older, ...record.streaks].filter(({ toMs }) => toMs >= sinceMs));
  }

  #isSubscribed(namespace: string, check: string, entity: string): boolean {
    const { subscriptions } = readResource(this.#store, 'checks', namespace, check) ?? {};
    const stored = readResource(this.#store, 'entities', namespace, entity);
    if (subscriptions === undefined || stored === undefined) return false;
    const own = new Set([...(stored.subscriptions ?? []), `entity:${entity}`]);
    return subscriptions.some((subscription) => own.has(subscription));
  }
}

const sorted = (streaks: readonly TickStreak[]): TickStreak[] =>
  streaks.toSorted((one, other) => one.fromMs - other.fromMs);
