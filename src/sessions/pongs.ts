/** Pongs that may wait to leave the process; a peer that reads has none of them waiting. */
const MAX_UNWRITTEN = 16;
const EMPTY = Buffer.alloc(0);

/** Calls back when the pong has left the process, or cannot. */
type Send = (body: Buffer, sent: () => void) => void;

/** Answers each ping. Of more than a peer has read the answers to, only the newest is answered, as RFC 6455 5.5.3 allows. */
export class Pongs {
  readonly #send: Send;
  #unwritten = 0;
  #newest: Buffer | undefined;

  constructor(send: Send) {
    this.#send = send;
  }

  answer(ping: Buffer): void {
    // The body is a view into all that was read with it, which must not stay for its sake.
    const body = Buffer.from(ping);
    if (this.#unwritten < MAX_UNWRITTEN) this.#write(body);
    else this.#newest = body;
  }

  /** One that nobody asked for: that the agent is not forgotten. */
  remind(): void {
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
