/** Results kept in memory while no backend confirms them; at either bound the oldest goes and is counted. */
export const MAX_QUEUED_EVENTS = 10_000;
const MAX_QUEUED_BYTES = 64 * 1024 * 1024;

export interface QueuedEvent {
  /** Given once, in the order of sending; never used again within the queue's UUID. */
  readonly n: number;
  readonly payload: string;
}

/** Results in order, from their making to their confirmation. On each new connection the unconfirmed ones are sent again. */
export class EventQueue {
  readonly #items: QueuedEvent[] = [];
  /** Index of the first item that was not sent on this connection. */
  #unsent = 0;
  #lastNumber = 0;
  #bytes = 0;
  #dropped = 0;

  get size(): number {
    return this.#items.length;
  }

  /** Results lost at a bound since the start. */
  get dropped(): number {
    return this.#dropped;
  }

  push(payload: string): void {
    this.#items.push({ n: ++this.#lastNumber, payload });
    this.#bytes += payload.length;
    while (this.#items.length > MAX_QUEUED_EVENTS || (this.#bytes > MAX_QUEUED_BYTES && this.#items.length > 1)) {
      this.#removeAt(0);
      this.#dropped++;
    }
  }

  /** The next item to send on this connection. */
  next(): QueuedEvent | undefined {
    const item = this.#items[this.#unsent];
    if (item !== undefined) this.#unsent++;
    return item;
  }

  /** Everything up to `n` has arrived; what was never sent cannot have. */
  confirm(n: number): void {
    while (this.#unsent > 0 && (this.#items[0]?.n ?? Infinity) <= n) this.#removeAt(0);
  }

  /** A new connection: all that is unconfirmed is to be sent again, with the same numbers. */
  rewind(): void {
    this.#unsent = 0;
  }

  /** The backend refuses the size of something it was sent: the largest such item would be refused for ever. */
  dropLargestSent(): QueuedEvent | undefined {
    const sent = this.#items.slice(0, this.#unsent);
    const largest = sent.reduce<QueuedEvent | undefined>(
      (found, item) => (found !== undefined && found.payload.length >= item.payload.length ? found : item),
      undefined,
    );
    if (largest === undefined) return undefined;
    this.#removeAt(this.#items.indexOf(largest));
    this.#dropped++;
    return largest;
  }

  #removeAt(index: number): void {
    const [removed] = this.#items.splice(index, 1);
    this.#bytes -= removed?.payload.length ?? 0;
    if (index < this.#unsent) this.#unsent--;
  }
}
