/** The memory of the messages that are kept, bytes. */
const MAX_KEPT_BYTES = 16 * 1024 * 1024;

/** The connections that have closed while their messages were held: these are processed when senders may continue. */
export class ClosedConnections {
  readonly #maxBytes: number;
  #bytes = 0;
  #isStopped = false;
  readonly #drops = new Set<() => void>();

  constructor(maxBytes = MAX_KEPT_BYTES) {
    this.#maxBytes = maxBytes;
  }

  /**
   * Makes room for messages of this size until the returned function is called. Calls `drop` when the port stops before that. Returns
   * undefined when there is no room.
   */
  keep(bytes: number, drop: () => void): (() => void) | undefined {
    if (this.#isStopped || this.#bytes + bytes > this.#maxBytes) return undefined;
    this.#bytes += bytes;
    this.#drops.add(drop);
    return () => {
      if (this.#drops.delete(drop)) this.#bytes -= bytes;
    };
  }

  /** Drops the messages that are kept, and keeps no further ones. */
  stop(): void {
    this.#isStopped = true;
    for (const drop of this.#drops) drop();
  }
}
