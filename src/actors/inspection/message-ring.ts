import { isBefore, type Position } from './position.ts';

/** The maximum number of messages kept for readers that reconnect. The oldest is dropped. */
const MAX_KEPT_MESSAGES = 200;

export interface KeptMessage {
  at: Position;
  text: string;
}

/** The latest messages of a watched actor. */
export class MessageRing {
  readonly #kept: KeptMessage[] = [];
  /** All messages after this position are kept. */
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

  /** Whether all messages after `position` are kept. */
  reachesBackTo(position: Position): boolean {
    return !isBefore(position, this.#begin);
  }

  after(position: Position): KeptMessage[] {
    return this.#kept.filter(({ at }) => isBefore(position, at));
  }
}
