/** An event between its making and its confirmation. */
export interface WaitingEvent {
  readonly n: number;
  readonly check: string;
  /** Of the payload. */
  readonly bytes: number;
  readonly acceptedAtMs: number;
  /** Undefined when the disk has it. */
  payload: string | undefined;
  place: 'memory' | 'being written' | 'disk' | 'gone';
}

/** Removed places at the front are given back when they are so many, and more than half. */
const MIN_COMPACTED = 1_024;

/** Events in the order of their numbers, and how far this connection has sent them. */
export class EventLine {
  readonly #events: WaitingEvent[] = [];
  /** Index of the first event. */
  #head = 0;
  /** Index of the first one that was not sent. */
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

  /** The next to send. */
  get next(): WaitingEvent | undefined {
    return this.#events[this.#unsent];
  }

  noteSent(): void {
    this.#unsent++;
  }

  /** Nothing is sent on a new connection. */
  rewind(): void {
    this.#unsent = this.#head;
  }

  /** Takes off what was sent and has a number up to `n`. */
  *takeSent(n: number): Iterable<WaitingEvent> {
    for (;;) {
      const event = this.#events[this.#head];
      if (event === undefined || this.#head >= this.#unsent || event.n > n) return;
      this.remove(event);
      yield event;
    }
  }

  /** The oldest of the check, or else the oldest. */
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
    if (this.#events[index] !== event) throw new Error(`event ${event.n} is not in the line`);
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

  /** Of the first event with this number or a higher one. */
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

  /** Else each of 100,000 confirmations would move all that is behind it. */
  #compact(): void {
    if (this.#head < MIN_COMPACTED || this.#head * 2 < this.#events.length) return;
    this.#events.splice(0, this.#head);
    this.#unsent -= this.#head;
    this.#head = 0;
  }
}
