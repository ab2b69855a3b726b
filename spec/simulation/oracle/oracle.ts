import type { Clock } from '../../../src/ports/clock.ts';
import { Alerts, type NextDue } from './alerts.ts';
import { Changes, agentEvent } from './changes.ts';
import { type Blindness, dueOf } from './countdown.ts';
import { Expectation, type ExpectedHandler, Pending } from './expectation.ts';
import type { Keepalive, Numbered, Result } from './inputs.ts';
import { SilenceChanges } from './silence-changes.ts';

const NAMESPACE = 'default';
const DEFAULT_WARNING_S = 120;

/** Two alerts of one entity are due in the same millisecond. Their order is not specified. */
export class Undecided extends Error {}

const entityKey = (name: string): string => `${NAMESPACE}/${name}`;
const eventKey = (entity: string, check: string): string => `${NAMESPACE}/${entity}/${check}`;

/**
 * Predicts the stored state, the transitions and the publications from the specification and the inputs alone. It applies each
 * input at once. `durability.ts` observes the writes of the store and reverts the oracle when inputs are lost.
 */
export class Oracle {
  /** Changes of silences by users. */
  readonly silences: SilenceChanges;
  /** Maximum number of entities; 0 = no limit. */
  entityLimit = 0;
  readonly #changes: Changes;
  readonly #alerts: Alerts;
  /** In steady time, oldest first. */
  #blind: Blindness[] = [];
  readonly #clock: Clock;
  #steadyLeadMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#changes = new Changes(clock);
    this.silences = new SilenceChanges(this.#changes, clock);
    this.#alerts = new Alerts(this.#changes, this.silences, clock);
  }

  /** The state that must be stored after all inputs. */
  get head(): Expectation {
    return this.#changes.head;
  }

  /** The changes that the next write must contain. */
  get pending(): Pending {
    return this.#changes.pending;
  }

  /** Starts a write of everything that is pending. Returns the state after it. */
  beginWrite(): Expectation {
    this.#changes.pending = new Pending();
    return new Expectation(this.head);
  }

  /** Returns to a durable state; all later changes are lost. */
  revertTo(durable: Expectation): void {
    this.#changes.head = new Expectation(durable);
    this.#changes.pending = new Pending();
  }

  /** Steady time: the wall clock at the start plus the time since, suspends included. */
  get steadyMs(): number {
    return this.#clock.uptimeMs() + this.#steadyLeadMs;
  }

  get #nowS(): number {
    return Math.floor(this.#clock.nowMs() / 1_000);
  }

  /** Starts a process. Steady time begins at the wall clock, or at the last recorded time of the previous process if that is later. */
  began(aliveMs: number | undefined): void {
    this.#steadyLeadMs = Math.max(this.#clock.nowMs(), aliveMs ?? 0) - this.#clock.uptimeMs();
    if (aliveMs !== undefined) this.wasBlind(this.steadyMs, this.steadyMs - aliveMs);
  }

  /** Adds a blind time that ends at `endMs`. */
  wasBlind(endMs: number, leastMs: number, mostMs = leastMs): void {
    this.#blind.push({ endMs, leastMs, mostMs });
  }

  get blindTimes(): number {
    return this.#blind.length;
  }

  /** Keeps the first `count` blind times. The process that knew the later ones has ended. */
  keepBlindTimes(count: number): void {
    this.#blind = this.#blind.slice(0, count);
  }

  /** The earliest alert if no further input arrives. */
  nextDue(): NextDue | undefined {
    let next: NextDue | undefined;
    for (const due of this.#dues()) if (next === undefined || due.atMs < next.atMs) next = due;
    return next;
  }

  *#dues(): Iterable<NextDue> {
    for (const [key, { monitor }] of this.head.entities) {
      if (monitor !== undefined) yield { kind: 'entity', key, ...dueOf(monitor, this.#blind) };
    }
    for (const [key, { armed }] of this.head.events) {
      if (armed !== undefined) yield { kind: 'check-ttl', key, ...dueOf(armed.countdown, this.#blind) };
    }
  }

  /** Raises every alert that is due now. @throws Undecided */
  alert(): void {
    const steadyMs = this.steadyMs;
    for (let due = this.nextDue(); due !== undefined && due.atMs <= steadyMs; due = this.nextDue()) {
      this.#assertDecided(due);
      this.#alerts.raise(due, steadyMs);
    }
  }

  /** A TTL alert and the first alert of its agent must not be due in the same millisecond, because the order decides the result. */
  #assertDecided({ key, atMs }: NextDue): void {
    for (const other of this.#dues()) {
      if (other.atMs !== atMs || other.key === key) continue;
      const [first = '', second = ''] = [key, other.key].sort();
      if (second.startsWith(`${first}/`) && this.head.entities.get(first)?.state === 'registered') {
        throw new Undecided(`${first} and ${second}`);
      }
    }
  }

  /** Section 11: whether an entity of that name exists or may be created. */
  hasRoomFor(name: string, { entities }: Expectation = this.head): boolean {
    return this.entityLimit === 0 || entities.size < this.entityLimit || entities.has(entityKey(name));
  }

  /** Returns false, and keeps nothing, if the entity limit does not admit a new agent. */
  keepalive(keepalive: Keepalive): boolean {
    const { agent, warningS, criticalS, deregister, subscriptions, handlers, deregistrationHandler, sentS } = keepalive;
    const key = entityKey(agent);
    if (!this.hasRoomFor(agent)) return false;
    if (!this.head.entities.has(key)) {
      this.#changes.createEntity(key, 'agent', deregister, subscriptions);
      this.#changes.transition('entities', key, null, 'stored');
      this.#changes.publish(eventKey(agent, 'registration'), agentEvent('registration'));
    }
    const lastSeenS = this.#changes.seen(key, sentS);
    const warningMs = (warningS === 0 && criticalS === 0 ? DEFAULT_WARNING_S : warningS) * 1_000;
    this.#changes.watch(key, 'registered', { sinceMs: this.steadyMs, warningMs, criticalMs: criticalS * 1_000 });
    const lastSeen = new Date(lastSeenS * 1_000).toISOString().replace('T', ' ').slice(0, 19);
    this.#changes.merge(eventKey(agent, 'keepalive'), {
      status: 0,
      executed: this.#nowS,
      output: `Keepalive last sent from ${agent} at ${lastSeen} +0000 UTC`,
      handlers: handlers ?? ['keepalive'],
      deregistrationHandler,
    });
    return true;
  }

  /**
   * Applies a result. A `numbered` result that was applied before is ignored. Returns false, and keeps only the number, if the
   * entity limit does not admit a new proxy entity.
   */
  result(result: Result, numbered?: Numbered): boolean {
    if (numbered !== undefined && !this.#changes.countUp(result.entity, numbered)) return true;
    const { proxy, entityClass, check, ttlS, alertStatus } = result;
    const entity = proxy ?? result.entity;
    const ofStoredEntity = proxy !== undefined || entityClass !== 'agent';
    if (ofStoredEntity && !this.#stored(entity, proxy === undefined ? result.subscriptions : [])) return false;
    const key = eventKey(entity, check);
    const before = this.head.events.get(key)?.armed;
    const countdown = { sinceMs: this.steadyMs, warningMs: ttlS * 1_000, criticalMs: 0 };
    const armed = ttlS > 0 ? ({ state: 'registered', countdown, alertStatus } as const) : undefined;
    this.#changes.ttlTransition(key, before?.state, armed?.state);
    const reach = {
      entitySubscriptions: result.subscriptions,
      checkSubscriptions: result.checkSubscriptions,
      isProxied: proxy !== undefined,
      ofStoredEntity,
    };
    this.#changes.merge(key, { ...result, executed: result.executedS, reach }, armed);
    return true;
  }

  /** Section 8.3: creates the entity of an event if it does not exist. Returns false at the entity limit. */
  #stored(name: string, subscriptions: readonly string[]): boolean {
    if (!this.hasRoomFor(name)) return false;
    const key = entityKey(name);
    if (!this.head.entities.has(key)) this.#changes.createEntity(key, 'proxy', false, subscriptions);
    return true;
  }

  /** Counts a numbered event that was refused. */
  refused(agent: string, numbered: Numbered): void {
    this.#changes.countUp(agent, numbered);
  }

  hasEvent(entity: string, check: string): boolean {
    return this.head.events.has(eventKey(entity, check));
  }

  /** Returns false if the event does not exist. */
  deleteEvent(entity: string, check: string): boolean {
    const key = eventKey(entity, check);
    if (!this.head.events.has(key)) return false;
    this.#changes.endEvent(key);
    if (check === 'keepalive') this.#changes.watch(entityKey(entity), 'registered', undefined);
    return true;
  }

  /** Deletes events that the session sent after the deletion of its entity, unless the agent has registered again. */
  deleteLateEvents(key: string): void {
    if (this.head.entities.has(key)) return;
    for (const event of this.#changes.eventsOf(key)) this.#changes.endEvent(event);
  }

  /** Returns false if the entity is new and the entity limit is reached. */
  putEntity(name: string, entityClass: string, deregister: boolean, subscriptions: readonly string[]): boolean {
    const key = entityKey(name);
    const known = this.head.entities.get(key);
    if (!this.hasRoomFor(name)) return false;
    if (known === undefined) {
      this.#changes.createEntity(key, entityClass, deregister, subscriptions);
      this.#changes.transition('entities', key, null, 'stored');
    } else {
      this.#changes.setEntity(key, { ...known, entityClass, deregister, subscriptions });
      this.#changes.transition('entities', key, 'stored', 'stored');
    }
    return true;
  }

  /** Deletes the entity, its silences and its events; the events even if no entity exists. Returns false if none exists. */
  deleteEntity(name: string): boolean {
    const key = entityKey(name);
    for (const event of this.#changes.eventsOf(key)) this.#changes.endEvent(event);
    if (!this.#changes.endEntity(key)) return false;
    this.silences.endOfEntity(name, 'entity.deleted');
    return true;
  }

  /** Handles the recorded begin of a silence. By now the name may belong to another silence with another begin. */
  silenceBegan(name: string, beginS: number): void {
    const known = this.head.silences.get(name);
    if (known?.beginS === beginS) this.head.silences.set(name, { ...known, state: 'active' });
  }

  /** Handles the recorded end of a silence. Returns its last second, if it has one. */
  silenceEnded(name: string): number | undefined {
    const known = this.head.silences.get(name);
    this.head.silences.delete(name);
    return known === undefined || known.expireAtS === 0 ? undefined : known.expireAtS;
  }

  /** Stores a check. The TTLs of its events do not change. */
  putCheck(name: string): void {
    const key = entityKey(name);
    this.#changes.transition('checks', key, this.head.checks.has(name) ? 'stored' : null, 'stored');
    this.head.checks.add(name);
  }

  /** Deletes a check and disarms the TTLs of its events. The events remain. */
  deleteCheck(name: string): boolean {
    if (!this.head.checks.delete(name)) return false;
    this.#changes.transition('checks', entityKey(name), 'stored', null);
    for (const [key, event] of this.head.events) {
      if (key.endsWith(`/${name}`) && event.armed !== undefined) this.#changes.disarm(key, event);
    }
    return true;
  }

  putHandler(name: string, handler: ExpectedHandler): void {
    this.#changes.transition('handlers', entityKey(name), this.head.handlers.has(name) ? 'stored' : null, 'stored');
    this.head.handlers.set(name, handler);
  }

  deleteHandler(name: string): boolean {
    if (!this.head.handlers.delete(name)) return false;
    this.#changes.transition('handlers', entityKey(name), 'stored', null);
    return true;
  }
}
