import { LRUCache } from 'lru-cache';
import { atMost } from '../ports/at-most.ts';

/** Check names with their own counter. An evicted check restarts at 1. */
const MAX_COUNTED_CHECKS = 10_000;

/** Numbers the events of each check, from 1 on each connection. */
export class SequenceNumbers {
  readonly #last = new LRUCache<string, number>(atMost(MAX_COUNTED_CHECKS));

  next(checkName: string): number {
    const sequence = (this.#last.get(checkName) ?? 0) + 1;
    this.#last.set(checkName, sequence);
    return sequence;
  }

  restart(): void {
    this.#last.clear();
  }
}
