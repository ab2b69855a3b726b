import type { Clock } from '../../../src/ports/clock.ts';
import { Alerts, type NextDue } from './alerts.ts';
import { Changes, lifeEvent } from './changes.ts';
import { type Blindness, dueOf } from './countdown.ts';
import { Expectation, type ExpectedHandler, Pending } from './expectation.ts';
import type { Keepalive, Numbered, Result } from './inputs.ts';
import { SilenceChanges } from './silence-changes.ts';

const NAMESPACE = 'default';
const DEFAULT_WARNING_S = 120;

/** Two alerts of one entity in the same millisecond: in which order they come is not specified. */
export class Undecided extends Error {}

const entityKey = (name: string): string => `${NAMESPACE}/${name}`;
const eventKey = (entity: string, check: string): string => `${NAMESPACE}/${entity}/${check}`;

/**
 * Predicts what must be stored, told and handled, by the documents and from the inputs alone. It follows each input
 * at once; whoever sees the store's writes tells it which of them became durable (`durability.ts`).
 */
export class Oracle {
  /** What people do to silences. */
  readonly silences: SilenceChanges;
  /** Entities that may exist; 0 = no limit. */
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

  /** Everything that must be stored when all inputs are. */
  get head(): Expectation {
    return this.#changes.head;
  }

  /** What the next write must add. */
  get pending(): Pending {
    return this.#changes.pending;
  }

  /** A write begins with everything that is pending; what it leads to. */
  tookOff(): Expectation {
    this.#changes.pending = new Pending();
    return new Expectation(this.head);
  }

  /** Everything since is lost. */
  backTo(durable: Expectation): void {
    this.#changes.head = new Expectation(durable);
    this.#changes.pending = new Pending();
  }

  /** Steady time: what has passed, suspends included, since the wall clock was looked at. */
  get steadyMs(): number {
    return this.#clock.uptimeMs() + this.#steadyLeadMs;
  }

  get #nowS(): number {
    return Math.floor(this.#clock.nowMs() / 1_000);
  }

  /** A process begins: at the wall clock, or where the former one is known to have come to. */
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

  /** Nobody remembers the later ones: the process that knew of them is gone. */
  keepBlindTimes(count: number): void {
    this.#blind = this.#blind.slice(0, count);
  }

  /** The earliest alert, if none is heard of before. */
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

  /** A switch goes silent with its agent: that both end in one millisecond is a tie while the agent is not yet missed. */
  #assertDecided({ key, atMs }: NextDue): void {
    for (const other of this.#dues()) {
      if (other.atMs !== atMs || other.key === key) continue;
      const [first = '', second = ''] = [key, other.key].sort();
      if (second.startsWith(`${first}/`) && this.head.entities.get(first)?.state === 'registered') {
        throw new Undecided(`${first} and ${second}`);
      }
    }
  }

  /** Section 11: whether an entity of that name exists, or may come to be. */
  hasRoomFor(name: string, { entities }: Expectation = this.head): boolean {
    return this.entityLimit === 0 || entities.size < this.entityLimit || entities.has(entityKey(name));
  }

  /** False when it is of a new agent and there is no room for it: then nothing of it is kept. */
  keepalive(keepalive: Keepalive): boolean {
    const { agent, warningS, criticalS, deregister, subscriptions, handlers, deregistrationHandler, sentS } = keepalive;
    const key = entityKey(agent);
    if (!this.hasRoomFor(agent)) return false;
    if (!this.head.entities.has(key)) {
      this.#changes.createEntity(key, 'agent', deregister, subscriptions);
      this.#changes.transition('entities', key, null, 'stored');
      this.#changes.publish(eventKey(agent, 'registration'), lifeEvent('registration'));
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
   * `numbered` when it came from a queue: what was applied before is not applied again.
   * False when it is of a new proxy entity and there is no room for it: then nothing of it is kept but its number.
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
    this.#changes.switched(key, before?.state, armed?.state);
    const reach = {
      entitySubscriptions: result.subscriptions,
      checkSubscriptions: result.checkSubscriptions,
      isProxied: proxy !== undefined,
      ofStoredEntity,
    };
    this.#changes.merge(key, { ...result, executed: result.executedS, reach }, armed);
    return true;
  }

  /** Section 8.3: the entity of an event that is not its agent's own is made when there is none. False when there is no room. */
  #stored(name: string, subscriptions: readonly string[]): boolean {
    if (!this.hasRoomFor(name)) return false;
    const key = entityKey(name);
    if (!this.head.entities.has(key)) this.#changes.createEntity(key, 'proxy', false, subscriptions);
    return true;
  }

  /** A numbered event that breaks a rule is done with, and nothing else. */
  refused(agent: string, numbered: Numbered): void {
    this.#changes.countUp(agent, numbered);
  }

  hasEvent(entity: string, check: string): boolean {
    return this.head.events.has(eventKey(entity, check));
  }

  /** False when there is no such event. */
  deleteEvent(entity: string, check: string): boolean {
    const key = eventKey(entity, check);
    if (!this.head.events.has(key)) return false;
    this.#changes.endEvent(key);
    if (check === 'keepalive') this.#changes.watch(entityKey(entity), 'registered', undefined);
    return true;
  }

  /** That an entity is gone is known now: what its session sent meanwhile goes too, unless it has registered anew. */
  goneWithSession(key: string): void {
    if (this.head.entities.has(key)) return;
    for (const event of this.#changes.eventsOf(key)) this.#changes.endEvent(event);
  }

  /** False when it is new and there is no room for it. */
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

  /** With its silences, and its events, which go even when it has none of its own records. False when it had none. */
  deleteEntity(name: string): boolean {
    const key = entityKey(name);
    for (const event of this.#changes.eventsOf(key)) this.#changes.endEvent(event);
    if (!this.#changes.endEntity(key)) return false;
    this.silences.endOfEntity(name, 'entity.deleted');
    return true;
  }

  /** It is on record that a silence with this begin has begun; by now it may be another one. */
  silenceBegan(name: string, beginS: number): void {
    const known = this.head.silences.get(name);
    if (known?.beginS === beginS) this.head.silences.set(name, { ...known, state: 'active' });
  }

  /** It is on record that a silence is over; its last second, if there was one. */
  silenceEnded(name: string): number | undefined {
    const known = this.head.silences.get(name);
    this.head.silences.delete(name);
    return known === undefined || known.expireAtS === 0 ? undefined : known.expireAtS;
  }

  /** An edit leaves the switches of its events as they are. */
  putCheck(name: string): void {
    const key = entityKey(name);
    this.#changes.transition('checks', key, this.head.checks.has(name) ? 'stored' : null, 'stored');
    this.head.checks.add(name);
  }

  /** Its events stay, their switches do not. */
  deleteCheck(name: string): boolean {
    if (!this.head.checks.delete(name)) return false;
    this.#changes.transition('checks', entityKey(name), 'stored', null);
    for (const [key, event] of this.head.events) {
      if (key.endsWith(`/${name}`) && event.armed !== undefined) this.#changes.bury(key, event);
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
