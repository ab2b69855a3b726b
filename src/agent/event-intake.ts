import { setImmediate as nextTick } from 'node:timers/promises';
import { atOnce, inSlices } from '../exec/in-slices.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { Entity } from '../resources/entity.ts';
import type { Event } from '../resources/event.ts';
import { completePostedEvent } from './posted-event.ts';
import { checkKeyOf } from './queue/check-key.ts';
import type { EventQueue } from './queue/event-queue.ts';
import { encodeWithinLimit, LARGE_PAYLOAD } from './queue/outgoing-event.ts';
import type { PostedEvent, PostedQueue } from './queue/posted-queue.ts';

interface IntakePorts {
  clock: Clock;
  log: Log;
  queue: EventQueue;
  posted: PostedQueue;
  entity(): Entity;
  /** Sends what is queued. */
  flush(): void;
}

/** Takes the events of checks, StatsD and local clients, and queues them. */
export class EventIntake {
  readonly #ports: IntakePorts;
  /** Settles when the last event that is encoded in several ticks is queued. */
  #last: Promise<unknown> = Promise.resolve();
  #willFlush = false;

  constructor(ports: IntakePorts) {
    this.#ports = ports;
  }

  /** Queues an event at once. */
  deliver(event: Event): void {
    this.#push(atOnce(encodeWithinLimit(event, this.#ports.log)), event);
  }

  /** Queues an event that may be large, and encodes it in several ticks of the event loop. Later events wait, so that the order stays. */
  deliverInSlices(event: Event): Promise<void> {
    const queue = async (): Promise<void> => {
      const payload = await inSlices(encodeWithinLimit(event, this.#ports.log));
      if (payload.length > LARGE_PAYLOAD) await nextTick();
      this.#push(payload, event);
    };
    // The caller of an event that fails receives its error; the next event is queued all the same.
    const queued = this.#last.then(queue, queue);
    this.#last = queued;
    return queued;
  }

  /**
   * Completes and stores events of a client: all of them, or none. Resolves when they are durable.
   *
   * @throws InvalidResource, Overloaded
   */
  async accept(events: readonly Event[]): Promise<void> {
    const completed = events.map((event) => this.#completed(event));
    const posted: PostedEvent[] = [];
    for (const event of completed) {
      const payload = await inSlices(encodeWithinLimit(event, this.#ports.log));
      posted.push({ payload, check: checkKeyOf(event) });
    }
    await this.#ports.posted.accept(posted);
  }

  /** Queues results of the sockets: all of them, or none when one is not valid. @throws InvalidResource */
  deliverAll(events: readonly Event[]): void {
    const completed = events.map((event) => this.#completed(event));
    for (const event of completed) this.deliver(event);
  }

  #push(payload: string, event: Event): void {
    this.#ports.queue.push(payload, checkKeyOf(event));
    // A large event is encoded once more to be sent, which has a tick of the event loop of its own.
    if (this.#willFlush) return;
    this.#willFlush = true;
    setImmediate(() => {
      this.#willFlush = false;
      this.#ports.flush();
    });
  }

  /** @throws InvalidResource */
  #completed(event: Event): Event {
    const nowS = Math.floor(this.#ports.clock.nowMs() / 1_000);
    return completePostedEvent(event, { entity: this.#ports.entity(), nowS });
  }
}
