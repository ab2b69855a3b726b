import type { Clock } from '../../../src/ports/clock.ts';
import { merged } from './check-merge.ts';
import type { Countdown } from './countdown.ts';
import { type ActorState, Expectation, type ExpectedEntity, type ExpectedEvent, Pending } from './expectation.ts';
import type { Numbered } from './inputs.ts';

/** What is published of an event. */
type Publication = Pick<ExpectedEvent, 'status' | 'occurrences' | 'history' | 'handlers'>;

/** An event that is handled and not stored: an agent came, or left. */
export const lifeEvent = (handler: string): Publication => ({
  status: 1,
  occurrences: 0,
  history: [],
  handlers: [handler],
});

/** Single changes of what must be stored, with what must be told and published of each. */
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
    const { status, executed, output, handlers, lowFlap = 0, highFlap = 0, blindS, deregistrationHandler } = result;
    const before = this.head.events.get(key);
    const merge = merged(before, { status, executed, lowFlap, highFlap });
    const event = { ...merge, executed, output, handlers, lowFlap, highFlap, blindS, armed, deregistrationHandler };
    this.head.events.set(key, event);
    this.#touch(this.pending.events, key);
    if (before?.state !== event.state) this.transition('check-state', key, before?.state ?? null, event.state);
    this.publish(key, event);
  }

  /** Sets are replaced by their members, each handler runs once; built-in filters are asked in order. */
  publish(key: string, { status, occurrences, history, handlers }: Publication): void {
    const names = new Set(handlers.flatMap((name) => this.head.handlers.get(name)?.members ?? [name]));
    const previous = history.at(-2)?.status ?? 0;
    for (const name of [...names].sort()) {
      const handler = this.head.handlers.get(name);
      if (handler === undefined || handler.members !== undefined) continue;
      if (handler.filters.includes('is_incident') && status === 0 && previous === 0) continue;
      if (handler.filters.includes('has_metrics')) continue;
      this.#note();
      this.pending.publications.push(`${key}: ${name} of status ${status}, occurrences ${occurrences}`);
    }
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

  createEntity(key: string, entityClass: string, deregister: boolean): void {
    this.setEntity(key, { entityClass, deregister, state: 'registered', lastSeenS: 0, monitor: undefined });
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
    this.switched(key, event.armed?.state, undefined);
    this.head.events.delete(key);
    this.#touch(this.pending.events, key);
    this.transition('check-state', key, event.state, null);
  }

  bury(key: string, event: ExpectedEvent): void {
    this.switched(key, event.armed?.state, undefined);
    this.head.events.set(key, { ...event, armed: undefined });
    this.#touch(this.pending.events, key);
  }

  switched(key: string, from: ActorState | undefined, to: ActorState | undefined): void {
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
