import { LRUCache } from 'lru-cache';
import { atMost } from '../ports/at-most.ts';
import type { Clock } from '../ports/clock.ts';
import type { TaskOwner } from './fair-queue.ts';

/** The time for which a namespace is restricted after one of its programs was stopped or slow. */
const RESTRICTED_MS = 60_000;
/** Beyond this number of restricted namespaces, the restriction of the one that was restricted first ends early. */
const MAX_REMEMBERED_NAMESPACES = 1_000;
/** Beyond this number of owners, the one that was used least recently counts as new. */
const MAX_REMEMBERED_OWNERS = 1_000;
/** The weight of the last task of an owner in the time that its next one is expected to take. */
const LAST_WEIGHT = 0.3;

/** The recorded behaviour of the owners of tasks. */
export class OwnerRecord {
  readonly #clock: Clock;
  /** When a namespace was restricted last, monotonic ms. */
  readonly #restrictedAtMs = new LRUCache<string, number>(atMost(MAX_REMEMBERED_NAMESPACES));
  /** The time that a task of an owner is expected to take, ms. */
  readonly #expectedMs = new LRUCache<string, number>(atMost(MAX_REMEMBERED_OWNERS));

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get hasRestricted(): boolean {
    return this.#restrictedAtMs.size > 0;
  }

  restrict({ namespace }: TaskOwner): void {
    this.#restrictedAtMs.set(namespace, this.#clock.monotonicMs());
  }

  isRestricted({ namespace }: TaskOwner): boolean {
    const sinceMs = this.#restrictedAtMs.get(namespace);
    if (sinceMs === undefined) return false;
    const isOver = this.#clock.monotonicMs() - sinceMs >= RESTRICTED_MS;
    if (isOver) this.#restrictedAtMs.delete(namespace);
    return !isOver;
  }

  /** Records how long a task took, ms. */
  took(owner: TaskOwner, tookMs: number): void {
    const key = keyOf(owner);
    const known = this.#expectedMs.get(key);
    this.#expectedMs.set(key, known === undefined ? tookMs : known + LAST_WEIGHT * (tookMs - known));
  }

  /** Returns undefined for a new owner. */
  expectedMs(owner: TaskOwner): number | undefined {
    return this.#expectedMs.get(keyOf(owner));
  }
}

const keyOf = ({ namespace, name }: TaskOwner): string => `${namespace}/${name}`;
