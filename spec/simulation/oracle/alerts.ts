import type { Clock } from '../../../src/ports/clock.ts';
import { type Changes, agentEvent } from './changes.ts';
import type { Blindness, Countdown, Due } from './countdown.ts';
import type { ExpectedEvent } from './expectation.ts';
import type { SilenceChanges } from './silence-changes.ts';
import { NO_REACH } from './silences.ts';

export interface NextDue extends Due {
  kind: 'entity' | 'check-ttl';
  key: string;
}

/** Predicts the alerts for silent agents and expired check TTLs. */
export class Alerts {
  readonly #changes: Changes;
  readonly #silences: SilenceChanges;
  readonly #clock: Clock;

  constructor(changes: Changes, silences: SilenceChanges, clock: Clock) {
    this.#changes = changes;
    this.#silences = silences;
    this.#clock = clock;
  }

  raise(due: NextDue, steadyMs: number): void {
    if (due.kind === 'entity') this.#missing(due, steadyMs);
    else this.#expired(due, steadyMs);
  }

  get #nowS(): number {
    return Math.floor(this.#clock.nowMs() / 1_000);
  }

  /** Section 7.5: an entity's keepalives are missing. */
  #missing({ key, baseMs, blindness }: NextDue, steadyMs: number): void {
    const { entities, events } = this.#changes.head;
    const entity = entities.get(key);
    if (entity?.monitor === undefined) throw new Error(`${key} is not monitored`);
    const { monitor } = entity;
    const event = events.get(`${key}/keepalive`);
    if (event === undefined) {
      this.#changes.watch(key, 'registered', undefined);
      return;
    }
    if (entity.deregister) {
      this.#deregister(key, event.deregistrationHandler);
      return;
    }
    const elapsedMs = steadyMs - baseMs;
    // A critical entity stays critical, because blind time is not a recovery.
    const isCritical = monitor.criticalMs > 0 && (elapsedMs >= monitor.criticalMs || entity.state === 'critical');
    const silentS = Math.floor((steadyMs - monitor.sinceMs) / 1_000);
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

  /** Section 9.3: a check TTL has expired. */
  #expired({ key, baseMs, blindness }: NextDue, steadyMs: number): void {
    const { entities, events } = this.#changes.head;
    const event = events.get(key);
    if (event?.armed === undefined) throw new Error(`${key} has no check TTL`);
    const { countdown, alertStatus, state } = event.armed;
    const entity = key.slice(0, key.lastIndexOf('/'));
    const agentAlerts = (events.get(`${entity}/keepalive`)?.status ?? 0) > 0;
    if (!entities.has(entity) || agentAlerts) {
      this.#changes.disarm(key, event);
      return;
    }
    const elapsedMs = steadyMs - baseMs;
    const silentS = Math.floor((steadyMs - countdown.sinceMs) / 1_000);
    const to = alertStatus >= 2 ? 'critical' : 'warning';
    this.#changes.ttlTransition(key, state, to);
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

  /** Section 7.6: deregistration of an entity. */
  #deregister(key: string, handler: string | undefined): void {
    for (const eventOf of this.#changes.eventsOf(key)) {
      const event = this.#changes.head.events.get(eventOf);
      if (event === undefined) continue;
      this.#changes.endEvent(eventOf);
      const history = [...event.history.slice(-1), { status: 0, executed: this.#nowS }];
      this.#changes.publish(eventOf, { ...event, status: 0, history });
    }
    this.#changes.endEntity(key);
    if (handler !== undefined) {
      const left = `${key}/deregistration`;
      this.#changes.publish(left, agentEvent(handler, this.#changes.silencedBy(left, NO_REACH)));
    }
    this.#silences.endOfEntity(key.slice(key.indexOf('/') + 1), 'entity.deregistered');
  }
}

/** Returns the bounds of the blind time that an alert must name. Only the first alert after blind time names it. */
function blindSeconds(
  { alerted }: Countdown,
  baseMs: number,
  blindness: Blindness | undefined,
): ExpectedEvent['blindS'] {
  if (blindness === undefined || alerted?.baseMs === baseMs) return undefined;
  return [Math.round(blindness.leastMs / 1_000), Math.round(blindness.mostMs / 1_000)];
}
