/** Reading stops at either bound. */
const FRAMES_UNTIL_PAUSE = 100;
const BYTES_UNTIL_PAUSE = 65_536;
/** `ws` still delivers what it has read: at most 64 KiB, or one empty message in each 6 bytes. */
export const MAX_HELD_FRAMES = 11_022;

/** What an object of a message takes besides its bytes. */
const OVERHEAD_BYTES = 100;

/** Messages of one agent that wait, in order, while senders must pause. Keepalives are not held. */
export class HeldFrames {
  #frames: Buffer[] = [];
  #bytes = 0;

  get length(): number {
    return this.#frames.length;
  }

  /** The memory that they take, about. */
  get memoryBytes(): number {
    return this.#bytes + OVERHEAD_BYTES * this.#frames.length;
  }

  get isEmpty(): boolean {
    return this.#frames.length === 0;
  }

  /** Whether reading must stop. */
  get isFull(): boolean {
    return this.#frames.length >= FRAMES_UNTIL_PAUSE || this.#bytes >= BYTES_UNTIL_PAUSE;
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
