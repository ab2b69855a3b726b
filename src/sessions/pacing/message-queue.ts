/** A longer message is kept as it is; copying it would cost more than its object, bytes. */
const MAX_COPIED_BYTES = 4_096;
const FIRST_BYTES = 16_384;

/**
 * The messages of one connection that wait, oldest first. Short ones are copied into one buffer: thousands of objects that live for
 * more than a tick would fill the old generation of V8.
 */
export class MessageQueue {
  /** Long messages, and the lengths of short ones. */
  #entries: (Buffer | number)[] = [];
  #next = 0;
  #bytes: Buffer | undefined;
  #begin = 0;
  #end = 0;

  get isEmpty(): boolean {
    return this.#next === this.#entries.length;
  }

  push(message: Buffer): void {
    const { length } = message;
    if (length > MAX_COPIED_BYTES) {
      this.#entries.push(message);
      return;
    }
    const bytes = this.#withRoom(length);
    message.copy(bytes, this.#end);
    this.#end += length;
    this.#entries.push(length);
  }

  /** Removes the oldest message and returns it. Its bytes are not written again. */
  shift(): Buffer | undefined {
    const entry = this.#entries[this.#next];
    if (entry === undefined) return undefined;
    this.#next += 1;
    let message = entry;
    if (typeof message === 'number') {
      message = (this.#bytes as Buffer).subarray(this.#begin, this.#begin + message);
      this.#begin += message.length;
    }
    if (this.isEmpty) this.#clear();
    return message;
  }

  #withRoom(length: number): Buffer {
    const bytes = this.#bytes;
    if (bytes !== undefined && this.#end + length <= bytes.length) return bytes;
    const waiting = this.#end - this.#begin;
    const larger = Buffer.allocUnsafeSlow(Math.max(FIRST_BYTES, 2 * (waiting + length)));
    bytes?.copy(larger, 0, this.#begin, this.#end);
    [this.#bytes, this.#begin, this.#end] = [larger, 0, waiting];
    return larger;
  }

  #clear(): void {
    [this.#entries, this.#next] = [[], 0];
    [this.#bytes, this.#begin, this.#end] = [undefined, 0, 0];
  }
}
