import { isBefore, type Position } from './position.ts';

/** Messages of one actor that are kept for readers that connect again; the oldest goes. */
const MAX_KEPT_MESSAGES = 200;

export interface KeptMessage {
  at: Position;
  text: string;
}

/** The latest messages of a watched actor. */
export class InspectRing {
  readonly #kept: KeptMessage[] = [];
  /** Everything after it is kept. */
  #begin: Position;

  constructor(begin: Position) {
    this.#begin = begin;
  }

  push(message: KeptMessage): void {
    this.#kept.push(message);
    if (this.#kept.length <= MAX_KEPT_MESSAGES) return;
    const dropped = this.#kept.shift();
    if (dropped !== undefined) this.#begin = dropped.at;
  }

  /** Whether everything after `position` is still here. */
  reachesBackTo(position: Position): boolean {
    return !isBefore(position, this.#begin);
  }

  after(position: Position): KeptMessage[] {
    return this.#kept.filter(({ at }) => isBefore(position, at));
  }
}
