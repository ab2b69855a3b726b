/** The total size of the events that are admitted in one tick of the event loop. */
const MAX_BYTES_PER_TICK = 2 * 1024 * 1024;
/** The number of events that are admitted in one tick of the event loop. */
const MAX_EVENTS_PER_TICK = 50;

/** Spreads work with events over ticks of the event loop, in the order of the requests. A larger event has a tick of its own. */
export class EventPacer {
  readonly #waiting: { bytes: number; begin: () => void }[] = [];
  #events = 0;
  #bytes = 0;
  #isArmed = false;

  /** Returns undefined when the work may be done now, or a promise to wait for. */
  admit(bytes: number): Promise<void> | undefined {
    if (this.#waiting.length === 0 && this.#fits(bytes)) {
      this.#spend(bytes);
      return undefined;
    }
    return new Promise((begin) => {
      this.#waiting.push({ bytes, begin });
      this.#arm();
    });
  }

  #fits(bytes: number): boolean {
    return this.#bytes + bytes <= MAX_BYTES_PER_TICK && this.#events < MAX_EVENTS_PER_TICK;
  }

  #spend(bytes: number): void {
    this.#bytes += bytes;
    this.#events += 1;
    this.#arm();
  }

  #arm(): void {
    if (this.#isArmed) return;
    this.#isArmed = true;
    setImmediate(() => {
      this.#tick();
    });
  }

  #tick(): void {
    this.#isArmed = false;
    this.#bytes = 0;
    this.#events = 0;
    let admitted = 0;
    for (const { bytes, begin } of this.#waiting) {
      if (admitted > 0 && !this.#fits(bytes)) break;
      this.#spend(bytes);
      begin();
      admitted += 1;
    }
    this.#waiting.splice(0, admitted);
    if (this.#waiting.length > 0) this.#arm();
  }
}
