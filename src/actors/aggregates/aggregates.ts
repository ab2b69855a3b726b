import type { Log } from '../../ports/log.ts';
import type { QueueStats } from '../../ports/queue-stats.ts';
import { type CheckHistory, lastExecuted } from '../../rules/check-history.ts';
import type { AggregatesChanged, Announcement, DeletionPending } from '../../store/commit/decision.ts';
import { eventAddress } from '../../store/encoding/keyspace.ts';
import type { SystemListener } from '../core/system-listeners.ts';
import { AggregateBounds } from './aggregate-bounds.ts';
import {
  Aggregate,
  type AggregateSample,
  type AggregateSummary,
  type MaxAge,
  type Member,
  type Severity,
} from './aggregate.ts';

const SAMPLED_EVERY_S = 60;
/** The maximum number of aggregates with a history. */
const MAX_SAMPLED_AGGREGATES = 1_000;

/**
 * The aggregates of all namespaces with the latest durable results of their members. The records of events have the names of the
 * aggregates that their results joined; this index is read from them at the start and then follows what becomes durable.
 */
export class Aggregates implements SystemListener {
  readonly #byNamespace = new Map<string, Map<string, Aggregate>>();
  readonly #bounds: AggregateBounds;
  #sampledAtS = -Infinity;

  constructor(log: Pick<Log, 'warn'>) {
    this.#bounds = new AggregateBounds(log);
  }

  /** The aggregates that have members, and the memberships of all results. */
  get size(): { aggregates: QueueStats; members: QueueStats } {
    return { aggregates: this.#bounds.named, members: this.#bounds.members };
  }

  /** Adds a stored result at the start. */
  load(key: string, names: readonly string[], history: CheckHistory): void {
    this.#join(key, names, history.statuses.at(-1) ?? 0, lastExecuted(history));
  }

  announced(announcement: Announcement): void {
    if (announcement.type === 'aggregates.changed') this.#changed(announcement);
    else if (announcement.type === 'deletion.pending') this.#hidden(announcement);
  }

  /**
   * Records the results of all aggregates, once a minute. Must be called more often than that. `nowS` is Unix seconds.
   */
  sample(nowS: number): void {
    // A clock that was set back samples at once.
    if (Math.abs(nowS - this.#sampledAtS) < SAMPLED_EVERY_S) return;
    this.#sampledAtS = nowS;
    let sampled = 0;
    for (const named of this.#byNamespace.values()) {
      for (const aggregate of named.values()) {
        if (sampled >= MAX_SAMPLED_AGGREGATES) return;
        aggregate.sample(nowS);
        sampled += 1;
      }
    }
  }

  /** Samples of the last hour, in memory: those since the start or since the aggregate has members. The oldest first. */
  history(namespace: string, name: string): readonly AggregateSample[] {
    return this.#find(namespace, name)?.history ?? [];
  }

  /** The names of the aggregates of a namespace that have members, in byte order. */
  names(namespace: string): string[] {
    return [...(this.#byNamespace.get(namespace)?.keys() ?? [])].sort();
  }

  has(namespace: string, name: string): boolean {
    return this.#find(namespace, name) !== undefined;
  }

  /** Undefined for an aggregate without members. */
  summary(namespace: string, name: string, age?: MaxAge): AggregateSummary | undefined {
    return this.#find(namespace, name)?.summary(age);
  }

  clients(namespace: string, name: string): { name: string; checks: string[] }[] | undefined {
    return this.#find(namespace, name)?.clients();
  }

  checks(namespace: string, name: string): { name: string; clients: string[] }[] | undefined {
    return this.#find(namespace, name)?.checks();
  }

  /** The members whose result has a severity and is not stale, by check, then by entity. */
  members(
    namespace: string,
    name: string,
    severity: Severity,
    age?: MaxAge,
  ): readonly Pick<Member, 'entity' | 'check'>[] | undefined {
    return this.#find(namespace, name)?.membersWith(severity, age);
  }

  /** The keys of the events whose results are members; with an age, of those whose results are stale. */
  keys(namespace: string, name: string, age?: MaxAge): string[] {
    const found = this.#find(namespace, name);
    if (found === undefined) return [];
    return age === undefined ? [...found.keys()] : found.staleKeys(age);
  }

  #find(namespace: string, name: string): Aggregate | undefined {
    return this.#byNamespace.get(namespace)?.get(name);
  }

  #changed({ key, before, after, status, executedS }: AggregatesChanged): void {
    const left = before.filter((name) => !after.includes(name));
    this.#leave(key, left);
    this.#join(key, after, status, executedS);
  }

  #join(key: string, names: readonly string[], status: number, executedS: number): void {
    if (names.length === 0) return;
    const { namespace, entity, check } = eventAddress(key);
    let named = this.#byNamespace.get(namespace);
    for (const name of names) {
      let aggregate = named?.get(name);
      const asked = { namespace, entity, aggregate: name, isNew: aggregate === undefined };
      if (aggregate?.has(key) !== true && !this.#bounds.admit(asked)) continue;
      if (named === undefined) this.#byNamespace.set(namespace, (named = new Map()));
      if (aggregate === undefined) named.set(name, (aggregate = new Aggregate()));
      aggregate.set(key, { entity, check, status, executedS });
    }
  }

  #leave(key: string, names: readonly string[]): void {
    if (names.length === 0) return;
    const { namespace, entity } = eventAddress(key);
    const named = this.#byNamespace.get(namespace);
    for (const name of names) {
      const aggregate = named?.get(name);
      if (aggregate?.remove(key) !== true) continue;
      const isLast = aggregate.size === 0;
      this.#bounds.release(namespace, entity, isLast);
      if (isLast) named?.delete(name);
    }
    if (named?.size === 0) this.#byNamespace.delete(namespace);
  }

  /** Removes the results of events that a deletion hides from now on. */
  #hidden({ kind, prefix }: DeletionPending): void {
    if (kind !== 'events') return;
    const namespace = prefix.slice(0, prefix.indexOf('/'));
    if (prefix === `${namespace}/`) {
      // Leaving one by one would take a second for a million memberships.
      this.#byNamespace.delete(namespace);
      this.#bounds.releaseAll(namespace);
      return;
    }
    for (const [name, aggregate] of this.#byNamespace.get(namespace) ?? []) {
      for (const key of aggregate.keys()) if (key.startsWith(prefix)) this.#leave(key, [name]);
    }
  }
}
