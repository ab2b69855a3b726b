import type { Clock } from '../../../src/ports/clock.ts';
import { checkStateAfter } from './check-state.ts';
import type { Countdown } from './countdown.ts';
import { type ActorState, Expectation, type ExpectedEntity, type ExpectedEvent, Pending } from './expectation.ts';
import type { Numbered } from './inputs.ts';
import { actsOn, type ExpectedSilence, NO_REACH, type Reach } from './silences.ts';

/** The part of an event that a publication shows. */
type Publication = Pick<ExpectedEvent, 'status' | 'occurrences' | 'history' | 'handlers' | 'silenced'>;

/** The registration or deregistration event of an agent, which is published and not stored. */
export const agentEvent = (handler: string, silenced: readonly string[] = []): Publication => ({
  status: 1,
  occurrences: 0,
  history: [],
  handlers: [handler],
  silenced,
});

/** Applies single changes to the expected state, and adds the transitions and publications that each must cause. */
export class Changes {
  head = new Expectation();
  pending = new Pending();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  merge(
    key: string,
    result: Partial<ExpectedEvent> & Pick<ExpectedEvent, 'status' | 'executed' | 'output' | 'handlers'>,
    armed?: ExpectedEvent['armed'],
  ): void {
    const { status, executed, output, handlers, blindS, deregistrationHandler } = result;
    const { lowFlap = 0, highFlap = 0, reach = NO_REACH } = result;
    const before = this.head.events.get(key);
    const state = checkStateAfter(before, { status, executed, lowFlap, highFlap });
    const silenced = this.#silence(key, reach, status === 0 && (state.history.at(-2)?.status ?? 0) !== 0);
    const flap = { lowFlap, highFlap };
    const event = {
      ...state,
      ...flap,
      executed,
      output,
      handlers,
      blindS,
      armed,
      deregistrationHandler,
      reach,
      silenced,
    };
    this.head.events.set(key, event);
    this.#touch(this.pending.events, key);
    const isSilencedAsBefore = before?.silenced.toSorted().join(' ') === silenced.toSorted().join(' ');
    if (before?.state !== event.state || before.history.at(-1)?.status !== status || !isSilencedAsBefore) {
      this.transition('check-state', key, before?.state ?? null, event.state);
    }
    this.publish(key, event);
  }

  /** Adds the expected publications: sets are replaced by their members, each handler runs once, and built-in filters apply in order. */
  publish(key: string, { status, occurrences, history, handlers, silenced }: Publication): void {
    const names = new Set(handlers.flatMap((name) => this.head.handlers.get(name)?.members ?? [name]));
    const previous = history.at(-2)?.status ?? 0;
    for (const name of [...names].sort()) {
      const handler = this.head.handlers.get(name);
      if (handler === undefined || handler.members !== undefined) continue;
      if (handler.filters.includes('is_incident') && status === 0 && previous === 0) continue;
      if (handler.filters.includes('not_silenced') && silenced.length > 0) continue;
      if (handler.filters.includes('has_metrics')) continue;
      this.#note();
      this.pending.publications.push(
        `${key}: ${name} of status ${status}, occurrences ${occurrences}, silenced by ${silenced.join(' ')}`,
      );
    }
  }

  /** Returns the names of the silences that apply to an event now, in order. */
  silencedBy(key: string, reach: Reach): string[] {
    const nowS = Math.floor(this.#clock.nowMs() / 1_000);
    const stored = this.head.entities.get(key.slice(0, key.lastIndexOf('/')))?.subscriptions ?? [];
    const actual = reach.ofStoredEntity ? { ...reach, entitySubscriptions: stored } : reach;
    const acting = [...this.head.silences].filter(([, silence]) => actsOn(silence, key, actual, nowS));
    return acting.map(([name]) => name).sort();
  }

  /** Section 10.4: silences that end on resolution end with the resolving event, and do not apply to it. */
  #silence(key: string, reach: Reach, isResolution: boolean): string[] {
    const acting = this.silencedBy(key, reach);
    if (!isResolution) return acting;
    const ending = acting.filter((name) => this.head.silences.get(name)?.endsOnResolve);
    for (const name of ending) this.endSilence(name, 'check.resolved');
    return acting.filter((name) => !ending.includes(name));
  }

  setSilence(name: string, silence: ExpectedSilence): void {
    this.head.silences.set(name, silence);
    this.#touch(this.pending.silences, name);
  }

  endSilence(name: string, event: string): void {
    this.head.silences.delete(name);
    this.#touch(this.pending.silences, name);
    this.silenceTransition(name, event, null);
  }

  /** Removes a silence whose time is over. The ledger must contain its end together with the current decision. */
  silenceWasOver(name: string, { expireAtS }: ExpectedSilence): void {
    this.head.silences.delete(name);
    this.#touch(this.pending.silences, name);
    this.pending.over.set(name, [...(this.pending.over.get(name) ?? []), expireAtS]);
  }

  silenceTransition(name: string, event: string, to: string | null): void {
    this.transition('silence', `default/${name}`, event, to);
  }

  seen(key: string, sentS: number): number {
    const entity = this.head.entities.get(key);
    const lastSeenS = Math.max(sentS, entity?.lastSeenS ?? 0);
    if (entity !== undefined) this.head.entities.set(key, { ...entity, lastSeenS });
    return lastSeenS;
  }

  setEntity(key: string, entity: ExpectedEntity): void {
    this.head.entities.set(key, entity);
    this.#touch(this.pending.entities, key);
  }

  createEntity(key: string, entityClass: string, deregister: boolean, subscriptions: readonly string[]): void {
    this.setEntity(key, {
      entityClass,
      deregister,
      subscriptions,
      state: 'registered',
      lastSeenS: 0,
      monitor: undefined,
    });
    this.transition('entity', key, null, 'registered');
  }

  endEntity(key: string): boolean {
    const entity = this.head.entities.get(key);
    if (entity === undefined) return false;
    this.head.entities.delete(key);
    this.pending.deleted.add(key);
    this.#touch(this.pending.entities, key);
    this.transition('entity', key, entity.state, 'deregistered');
    this.transition('entities', key, 'stored', null);
    return true;
  }

  watch(key: string, state: ActorState, monitor: Countdown | undefined): void {
    const entity = this.head.entities.get(key);
    if (entity === undefined) return;
    this.setEntity(key, { ...entity, state, monitor });
    if (entity.state !== state) this.transition('entity', key, entity.state, state);
  }

  eventsOf(entity: string): string[] {
    return [...this.head.events.keys()].filter((key) => key.startsWith(`${entity}/`));
  }

  endEvent(key: string): void {
    const event = this.head.events.get(key);
    if (event === undefined) return;
    this.ttlTransition(key, event.armed?.state, undefined);
    this.head.events.delete(key);
    this.#touch(this.pending.events, key);
    this.transition('check-state', key, event.state, null);
  }

  disarm(key: string, event: ExpectedEvent): void {
    this.ttlTransition(key, event.armed?.state, undefined);
    this.head.events.set(key, { ...event, armed: undefined });
    this.#touch(this.pending.events, key);
  }

  ttlTransition(key: string, from: ActorState | undefined, to: ActorState | undefined): void {
    if (from !== to) this.transition('check-ttl', key, from ?? null, to ?? 'deregistered');
  }

  countUp(agent: string, { queue, n }: Numbered): boolean {
    const id = `${agent} ${queue}`;
    if (n <= (this.head.queues.get(id) ?? 0)) return false;
    this.head.queues.set(id, n);
    this.#touch(this.pending.queues, id);
    return true;
  }

  transition(actor: string, key: string, from: string | null, to: string | null): void {
    this.#note();
    this.pending.transitions.push(`${actor} ${key}: ${from} -> ${to} at ${this.#clock.nowMs()}`);
  }

  #touch(keys: Set<string>, key: string): void {
    this.#note();
    keys.add(key);
  }

  #note(): void {
    this.pending.sinceMs ??= this.#clock.monotonicMs();
  }
}
