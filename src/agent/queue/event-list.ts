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

/** The removed entries at the front are released when they reach this number and outnumber the rest. */
const MIN_COMPACTED = 1_024;

/** Unconfirmed events, sorted by number, with the position up to which this connection has sent them. */
export class EventList {
  readonly #events: WaitingEvent[] = [];
  /** Index of the first event. */
  #head = 0;
  /** Index of the first unsent event. */
  #unsent = 0;
  #bytes = 0;

  get size(): number {
    return this.#events.length - this.#head;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Numbers must ascend. */
  append(event: WaitingEvent): void {
    this.#events.push(event);
    this.#bytes += event.bytes;
  }

  /** The next event to send. */
  get next(): WaitingEvent | undefined {
    return this.#events[this.#unsent];
  }

  markSent(): void {
    this.#unsent++;
  }

  /** Marks all events as unsent, for a new connection. */
  rewind(): void {
    this.#unsent = this.#head;
  }

  /** Removes and yields the sent events with numbers up to `n`. */
  *removeSent(n: number): Iterable<WaitingEvent> {
    for (;;) {
      const event = this.#events[this.#head];
      if (event === undefined || this.#head >= this.#unsent || event.n > n) return;
      this.remove(event);
      yield event;
    }
  }

  /** The oldest event of the check, or else the oldest of all. */
  oldestOf(check: string): WaitingEvent | undefined {
    for (let index = this.#head; index < this.#events.length; index++) {
      const event = this.#events[index];
      if (event?.check === check) return event;
    }
    return this.#events[this.#head];
  }

  find(n: number): WaitingEvent | undefined {
    const event = this.#events[this.#indexOf(n)];
    return event?.n === n ? event : undefined;
  }

  largestSent(): WaitingEvent | undefined {
    let largest: WaitingEvent | undefined;
    for (const event of this.#events.slice(this.#head, this.#unsent)) {
      if (largest === undefined || event.bytes > largest.bytes) largest = event;
    }
    return largest;
  }

  remove(event: WaitingEvent): void {
    const index = this.#indexOf(event.n);
    if (this.#events[index] !== event) throw new Error(`event ${event.n} is not in the queue`);
    this.#bytes -= event.bytes;
    if (index === this.#head) {
      this.#head++;
      this.#unsent = Math.max(this.#unsent, this.#head);
      this.#compact();
    } else {
      this.#events.splice(index, 1);
      if (index < this.#unsent) this.#unsent--;
    }
  }

  /** Index of the first event with this number or a higher one. */
  #indexOf(n: number): number {
    let low = this.#head;
    let high = this.#events.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#events[middle]?.n ?? Infinity) < n) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Shifting the array at each removal would make 100,000 confirmations quadratic. */
  #compact(): void {
    if (this.#head < MIN_COMPACTED || this.#head * 2 < this.#events.length) return;
    this.#events.splice(0, this.#head);
    this.#unsent -= this.#head;
    this.#head = 0;
  }
}
