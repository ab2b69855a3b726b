import type { Event } from '../../resources/event.ts';

/** A ring buffer of at most `capacity` events. When it is full, a new event replaces the oldest. */
export class EventRing {
  readonly #capacity: number;
  #slots: (Event | undefined)[] = [];
  #first = 0;
  #size = 0;

  /** `capacity` is at least 1. */
  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get size(): number {
    return this.#size;
  }

  get isEmpty(): boolean {
    return this.#size === 0;
  }

  /** Adds an event. Returns false if the oldest event was dropped for it. */
  push(event: Event): boolean {
    const hasRoom = this.#size < this.#capacity;
    if (!hasRoom) this.take(1);
    this.#slots[(this.#first + this.#size) % this.#capacity] = event;
    this.#size += 1;
    return hasRoom;
  }

  /** Removes and returns the oldest events, at most `max`. */
  take(max: number): Event[] {
    const taken: Event[] = [];
    while (taken.length < max && this.#size > 0) {
      const event = this.#slots[this.#first];
      if (event !== undefined) taken.push(event);
      this.#slots[this.#first] = undefined;
      this.#first = (this.#first + 1) % this.#capacity;
      this.#size -= 1;
    }
    // An empty ring starts again with a new array, which frees the memory of the old one.
    if (this.#size === 0) [this.#slots, this.#first] = [[], 0];
    return taken;
  }
}
