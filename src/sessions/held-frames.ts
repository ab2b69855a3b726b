/** Beyond either bound the socket is not read any more. */
export const MAX_HELD_FRAMES = 100;
const MAX_HELD_BYTES = 65_536;

/** Messages of one agent that wait, in order, because senders must pause. Keepalives pass by them: they have a lane of their own. */
export class HeldFrames {
  #frames: Buffer[] = [];
  #bytes = 0;

  get length(): number {
    return this.#frames.length;
  }

  get isEmpty(): boolean {
    return this.#frames.length === 0;
  }

  get isFull(): boolean {
    return this.#frames.length >= MAX_HELD_FRAMES || this.#bytes >= MAX_HELD_BYTES;
  }

  push(frame: Buffer): void {
    this.#frames.push(frame);
    this.#bytes += frame.length;
  }

  shift(): Buffer | undefined {
    const frame = this.#frames.shift();
    if (frame !== undefined) this.#bytes -= frame.length;
    return frame;
  }

  clear(): void {
    this.#frames = [];
    this.#bytes = 0;
  }
}
