/** Pongs waiting to leave the process. None waits for a peer that reads. */
const MAX_UNWRITTEN = 16;
const EMPTY = Buffer.alloc(0);

/** Calls `sent` when the pong has left the process or failed. */
type Send = (body: Buffer, sent: () => void) => void;

/** Answers pings. At the limit it answers only the latest ping, as RFC 6455 5.5.3 allows. */
export class Pongs {
  readonly #send: Send;
  #unwritten = 0;
  #newest: Buffer | undefined;

  constructor(send: Send) {
    this.#send = send;
  }

  answer(ping: Buffer): void {
    // The body is a view of a large read buffer, which a copy releases.
    const body = Buffer.from(ping);
    if (this.#unwritten < MAX_UNWRITTEN) this.#write(body);
    else this.#newest = body;
  }

  /** Sends a pong without a ping, to keep the connection of a waiting agent open. */
  sendUnsolicited(): void {
    if (this.#unwritten < MAX_UNWRITTEN) this.#write(EMPTY);
    else this.#newest ??= EMPTY;
  }

  #write(body: Buffer): void {
    this.#unwritten += 1;
    this.#send(body, () => {
      this.#unwritten -= 1;
      const newest = this.#newest;
      this.#newest = undefined;
      if (newest !== undefined) this.#write(newest);
    });
  }
}
