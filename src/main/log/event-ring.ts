import type { Event } from '../../resources/event.ts';

/** Events that wait, at most `capacity` of them; the oldest make room for new ones. */
export class EventRing {
  readonly #capacity: number;
  #slots: (Event | undefined)[] = [];
  #first = 0;
  #size = 0;

  /** At least 1. */
  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get size(): number {
    return this.#size;
  }

  get isEmpty(): boolean {
    return this.#size === 0;
  }

  /** False when the oldest one was lost for it. */
  push(event: Event): boolean {
    const hasRoom = this.#size < this.#capacity;
    if (!hasRoom) this.take(1);
    this.#slots[(this.#first + this.#size) % this.#capacity] = event;
    this.#size += 1;
    return hasRoom;
  }

  /** The oldest ones, at most `max`. */
  take(max: number): Event[] {
    const taken: Event[] = [];
    while (taken.length < max && this.#size > 0) {
      const event = this.#slots[this.#first];
      if (event !== undefined) taken.push(event);
      this.#slots[this.#first] = undefined;
      this.#first = (this.#first + 1) % this.#capacity;
      this.#size -= 1;
    }
    // An empty one begins anew, so that it is as long as it must be and no longer.
    if (this.#size === 0) [this.#slots, this.#first] = [[], 0];
    return taken;
  }
}
