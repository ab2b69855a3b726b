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

  /** With the body of its ping; unsolicited without. */
  answer(body: Buffer = EMPTY): void {
    if (this.#unwritten < MAX_UNWRITTEN) this.#write(body);
    // It is a view into all that was read with it, which must not stay for its sake.
    else this.#newest = Buffer.from(body);
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
