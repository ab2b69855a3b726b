import type { Clock } from '../../../src/ports/clock.ts';
import { Changes, lifeEvent } from './changes.ts';
import { type Blindness, type Countdown, type Due, dueOf } from './countdown.ts';
import { Expectation, type ExpectedEvent, type ExpectedHandler, Pending } from './expectation.ts';
import type { Keepalive, Numbered, Result } from './inputs.ts';

const NAMESPACE = 'default';
const DEFAULT_WARNING_S = 120;

export interface NextDue extends Due {
  kind: 'entity' | 'check-ttl';
  key: string;
}

/** Two alerts of one entity in the same millisecond: in which order they come is not specified. */
export class Undecided extends Error {}

const entityKey = (name: string): string => `${NAMESPACE}/${name}`;
const eventKey = (entity: string, check: string): string => `${NAMESPACE}/${entity}/${check}`;

/**
 * Predicts what must be stored, told and handled, by the documents and from the inputs alone. It follows each input
 * at once; whoever sees the store's writes tells it which of them became durable (`durability.ts`).
 */
export class Oracle {
  readonly #changes: Changes;
  /** In steady time, oldest first. */
  #blind: Blindness[] = [];
  readonly #clock: Clock;
  #steadyLeadMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#changes = new Changes(clock);
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

  /** Nobody could be heard until `endMs`. */
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
      if (due.kind === 'entity') this.#missing(due);
      else this.#expired(due);
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

  keepalive({ agent, warningS, criticalS, deregister, handlers, deregistrationHandler, sentS }: Keepalive): void {
    const key = entityKey(agent);
    if (!this.head.entities.has(key)) {
      this.#changes.createEntity(key, 'agent', deregister);
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
  }

  /** `numbered` when it came from a queue: what was applied before is not applied again. */
  result(result: Result, numbered?: Numbered): void {
    if (numbered !== undefined && !this.#changes.countUp(result.entity, numbered)) return;
    const { proxy, entityClass, check, ttlS, alertStatus } = result;
    const entity = proxy ?? result.entity;
    const isProxied = proxy !== undefined || entityClass !== 'agent';
    if (isProxied && !this.head.entities.has(entityKey(entity)))
      this.#changes.createEntity(entityKey(entity), 'proxy', false);
    const key = eventKey(entity, check);
    const before = this.head.events.get(key)?.armed;
    const countdown = { sinceMs: this.steadyMs, warningMs: ttlS * 1_000, criticalMs: 0 };
    const armed = ttlS > 0 ? ({ state: 'registered', countdown, alertStatus } as const) : undefined;
    this.#changes.switched(key, before?.state, armed?.state);
    this.#changes.merge(key, { ...result, executed: result.executedS }, armed);
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

  putEntity(name: string, entityClass: string, deregister: boolean): void {
    const key = entityKey(name);
    const known = this.head.entities.get(key);
    if (known === undefined) {
      this.#changes.createEntity(key, entityClass, deregister);
      this.#changes.transition('entities', key, null, 'stored');
    } else {
      this.#changes.setEntity(key, { ...known, entityClass, deregister });
      this.#changes.transition('entities', key, 'stored', 'stored');
    }
  }

  /** With its events, which go even when it has none of its own records. False when it had none. */
  deleteEntity(name: string): boolean {
    const key = entityKey(name);
    for (const event of this.#changes.eventsOf(key)) this.#changes.endEvent(event);
    return this.#changes.endEntity(key);
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

  /** Section 7.5: the agent of an entity is missing. */
  #missing({ key, baseMs, blindness }: NextDue): void {
    const entity = this.head.entities.get(key);
    if (entity?.monitor === undefined) throw new Error(`${key} is not monitored`);
    const { monitor } = entity;
    const event = this.head.events.get(`${key}/keepalive`);
    if (event === undefined) {
      this.#changes.watch(key, 'registered', undefined);
      return;
    }
    if (entity.deregister) {
      this.#deregister(key, event.deregistrationHandler);
      return;
    }
    const elapsedMs = this.steadyMs - baseMs;
    // Once critical it stays so: blind time makes nobody better.
    const isCritical = monitor.criticalMs > 0 && (elapsedMs >= monitor.criticalMs || entity.state === 'critical');
    const silentS = Math.floor((this.steadyMs - monitor.sinceMs) / 1_000);
    const thresholdS = (isCritical ? monitor.criticalMs : monitor.warningMs) / 1_000;
    this.#changes.watch(key, isCritical ? 'critical' : 'warning', { ...monitor, alerted: { baseMs, elapsedMs } });
    this.#changes.merge(`${key}/keepalive`, {
      ...event,
      status: isCritical ? 2 : 1,
      executed: this.#nowS,
      output: `No keepalive sent from ${key.split('/')[1]} for ${silentS} seconds (>= ${thresholdS})`,
      blindS: blindSeconds(monitor, baseMs, blindness),
    });
  }

  /** Section 9.3: a switch has come to its end. */
  #expired({ key, baseMs, blindness }: NextDue): void {
    const event = this.head.events.get(key);
    if (event?.armed === undefined) throw new Error(`${key} has no switch`);
    const { countdown, alertStatus, state } = event.armed;
    const entity = key.slice(0, key.lastIndexOf('/'));
    const agentAlerts = (this.head.events.get(`${entity}/keepalive`)?.status ?? 0) > 0;
    if (!this.head.entities.has(entity) || agentAlerts) {
      this.#changes.bury(key, event);
      return;
    }
    const elapsedMs = this.steadyMs - baseMs;
    const silentS = Math.floor((this.steadyMs - countdown.sinceMs) / 1_000);
    const to = alertStatus >= 2 ? 'critical' : 'warning';
    this.#changes.switched(key, state, to);
    this.#changes.merge(
      key,
      {
        ...event,
        status: alertStatus,
        executed: this.#nowS,
        output: `Last check execution was ${silentS} seconds ago`,
        blindS: blindSeconds(countdown, baseMs, blindness),
      },
      { state: to, countdown: { ...countdown, alerted: { baseMs, elapsedMs } }, alertStatus },
    );
  }

  /** Section 7.6. */
  #deregister(key: string, handler: string | undefined): void {
    for (const eventOf of this.#changes.eventsOf(key)) {
      const event = this.head.events.get(eventOf);
      if (event === undefined) continue;
      this.#changes.endEvent(eventOf);
      const history = [...event.history.slice(-1), { status: 0, executed: this.#nowS }];
      this.#changes.publish(eventOf, { ...event, status: 0, history });
    }
    this.#changes.endEntity(key);
    if (handler !== undefined) this.#changes.publish(`${key}/deregistration`, lifeEvent(handler));
  }
}

/** Only the first alert after blind time names it. */
function blindSeconds(
  { alerted }: Countdown,
  baseMs: number,
  blindness: Blindness | undefined,
): ExpectedEvent['blindS'] {
  if (blindness === undefined || alerted?.baseMs === baseMs) return undefined;
  return [Math.round(blindness.leastMs / 1_000), Math.round(blindness.mostMs / 1_000)];
}
