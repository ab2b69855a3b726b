/** With so many, or so many bytes, the socket is not read any more. */
const FRAMES_UNTIL_PAUSE = 100;
const BYTES_UNTIL_PAUSE = 65_536;
/** `ws` goes on to tell what it has read already: 64 KiB at most, with an empty message in each 6 bytes. */
export const MAX_HELD_FRAMES = 11_022;

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

  /** Whether no more may be read. */
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
