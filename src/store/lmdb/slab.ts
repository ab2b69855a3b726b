const CHUNK_BYTES = 1024 * 1024;
/** A larger value gets memory of its own, so that little of a chunk stays unused. */
const LARGE_BYTES = CHUNK_BYTES / 8;
/** Chunks that are kept for the next transaction; the others are left to the garbage collector. */
const KEPT_CHUNKS = 16;

/**
 * Memory for the encoded values of one transaction. LMDB reads the values from it until the transaction has ended, and the next
 * one uses it again: a small buffer for each value would be garbage that survives several collections.
 */
export class Slab {
  #chunks: Buffer[] = [];
  #used = 0;
  #position = CHUNK_BYTES;

  /** Returns memory that is valid until `reuse`. Its contents are undefined. */
  readonly allocate = (bytes: number): Buffer => {
    if (bytes > LARGE_BYTES) return Buffer.allocUnsafeSlow(bytes);
    if (this.#position + bytes > CHUNK_BYTES) this.#nextChunk();
    const start = this.#position;
    this.#position += bytes;
    return (this.#chunks[this.#used - 1] as Buffer).subarray(start, start + bytes);
  };

  #nextChunk(): void {
    if (this.#used === this.#chunks.length) this.#chunks.push(Buffer.allocUnsafeSlow(CHUNK_BYTES));
    this.#used += 1;
    this.#position = 0;
  }

  /** Gives all memory back. Nothing may read it any more. */
  reuse(): void {
    this.#chunks = this.#chunks.slice(0, KEPT_CHUNKS);
    this.#used = 0;
    this.#position = CHUNK_BYTES;
  }
}
