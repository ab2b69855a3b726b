import { deepFreeze } from '../resources/deep-freeze.ts';
import type { Entity } from '../resources/entity.ts';

/** A larger entity is decoded with each event: it would stay in memory for each connection. */
const LARGE_BYTES = 64 * 1024;

/** An entity as it was read, with what its reading counted. */
export interface ReadEntity {
  bytes: Buffer;
  entity: Entity;
  /** The fields and the entries of maps that it has in protobuf, at all levels. */
  values: number;
  names: number;
}

/**
 * The entity of the last valid event of one sender, which uses one encoding. An agent sends the same bytes with each event: they
 * are decoded and validated once, and the frozen entity is shared by the events.
 */
export class LastEntity {
  #last: ReadEntity | undefined;

  /** Returns the entity of these bytes if they are those of the last event. */
  find(bytes: Buffer): ReadEntity | undefined {
    return this.#last?.bytes.equals(bytes) === true ? this.#last : undefined;
  }

  /** Returns the last entity if its bytes begin at this place of a message. */
  findAt(message: Buffer, start: number): ReadEntity | undefined {
    const last = this.#last;
    return last !== undefined && last.bytes.equals(message.subarray(start, start + last.bytes.length))
      ? last
      : undefined;
  }

  /** Whether the entity was validated with an earlier event. */
  isValid(entity: Entity | undefined): boolean {
    return entity !== undefined && entity === this.#last?.entity;
  }

  /** Keeps a valid entity for the next events, with a copy of its bytes, unless it is large. */
  keep(read: ReadEntity): void {
    if (read.bytes.length > LARGE_BYTES) {
      this.#last = undefined;
      return;
    }
    deepFreeze(read.entity);
    this.#last = { ...read, bytes: Buffer.from(read.bytes) };
  }
}
