/** A queued event that is not confirmed. */
export interface WaitingEvent {
  readonly n: number;
  readonly check: string;
  /** Size of the payload. */
  readonly bytes: number;
  readonly acceptedAtMs: number;
  /** Undefined once the event is on disk. */
  payload: string | undefined;
  /** An event that is being moved is not sent yet. */
  place: 'memory' | 'being written' | 'being moved' | 'disk' | 'gone';
}

/** Removed events leave their numbers. These are dropped when they reach this count and outnumber the events. */
const MIN_COMPACTED = 1_024;

/** An event, or the number of a removed one. */
type Slot = WaitingEvent | number;

const numberOf = (slot: Slot): number => (typeof slot === 'number' ? slot : slot.n);
const isEvent = (slot: Slot): slot is WaitingEvent => typeof slot !== 'number';

/** Unconfirmed events, sorted by number, with the position up to which this connection has sent them. */
export class EventList {
  #slots: Slot[] = [];
  /** Index of the first event. */
  #head = 0;
  /** Index of the first unsent event. */
  #unsent = 0;
  #size = 0;
  #bytes = 0;
  /** The number of events of each check. */
  readonly #ofCheck = new Map<string, number>();

  get size(): number {
    return this.#size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Numbers must ascend. */
  append(event: WaitingEvent): void {
    this.#slots.push(event);
    this.#count(event, 1);
  }

  /** The next event to send. */
  get next(): WaitingEvent | undefined {
    return this.#eventAt(this.#unsent);
  }

  markSent(): void {
    this.#unsent++;
    this.#passRemoved();
  }

  /** Marks all events as unsent, for a new connection. */
  rewind(): void {
    this.#unsent = this.#head;
  }

  /** Removes and yields the sent events with numbers up to `n`. */
  *removeSent(n: number): Iterable<WaitingEvent> {
    for (;;) {
      const event = this.#eventAt(this.#head);
      if (event === undefined || this.#head >= this.#unsent || event.n > n) return;
      this.remove(event);
      yield event;
    }
  }

  /** Yields the events of the check, then the others, oldest first. The caller removes each of them before it takes the next. */
  *oldestFirst(check: string): Iterable<WaitingEvent> {
    let index = this.#head;
    while (this.#ofCheck.has(check)) {
      const event = this.#eventAt(index);
      if (event?.check === check) {
        yield event;
        // The removal may have dropped slots.
        index = this.#indexOf(event.n);
      } else index++;
    }
    for (let event = this.#eventAt(this.#head); event !== undefined; event = this.#eventAt(this.#head)) yield event;
  }

  find(n: number): WaitingEvent | undefined {
    const event = this.#eventAt(this.#indexOf(n));
    return event?.n === n ? event : undefined;
  }

  largestSent(): WaitingEvent | undefined {
    let largest: WaitingEvent | undefined;
    for (const event of this.#slots.slice(this.#head, this.#unsent).filter(isEvent)) {
      if (largest === undefined || event.bytes > largest.bytes) largest = event;
    }
    return largest;
  }

  /** Removes an event without moving the others. */
  remove(event: WaitingEvent): void {
    const index = this.#indexOf(event.n);
    if (this.#slots[index] !== event) throw new Error(`event ${event.n} is not in the queue`);
    this.#slots[index] = event.n;
    this.#count(event, -1);
    this.#passRemoved();
    this.#compact();
  }

  #eventAt(index: number): WaitingEvent | undefined {
    const slot = this.#slots[index];
    return typeof slot === 'number' ? undefined : slot;
  }

  #count({ check, bytes }: WaitingEvent, change: 1 | -1): void {
    this.#size += change;
    this.#bytes += change * bytes;
    const ofCheck = (this.#ofCheck.get(check) ?? 0) + change;
    if (ofCheck === 0) this.#ofCheck.delete(check);
    else this.#ofCheck.set(check, ofCheck);
  }

  #passRemoved(): void {
    while (typeof this.#slots[this.#head] === 'number') this.#head++;
    this.#unsent = Math.max(this.#unsent, this.#head);
    while (typeof this.#slots[this.#unsent] === 'number') this.#unsent++;
  }

  /** Index of the first slot with this number or a higher one, from the first event on. */
  #indexOf(n: number): number {
    let low = this.#head;
    let high = this.#slots.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const slot = this.#slots[middle];
      if (slot !== undefined && numberOf(slot) < n) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #compact(): void {
    const removed = this.#slots.length - this.#size;
    if (removed < MIN_COMPACTED || removed < this.#size) return;
    const unsent = this.#eventAt(this.#unsent)?.n ?? Infinity;
    this.#slots = this.#slots.filter(isEvent);
    this.#head = 0;
    this.#unsent = this.#indexOf(unsent);
  }
}
