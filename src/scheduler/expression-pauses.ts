import { LRUCache } from 'lru-cache';
import { atMost } from '../ports/at-most.ts';
import type { Clock } from '../ports/clock.ts';
import { MAX_STOPPED, type Selection } from './entity-selection.ts';

/** The time for which stopped expressions are not evaluated. It doubles with each stop, until a selection is not stopped. */
const FIRST_PAUSE_MS = 10_000;
const LONGEST_PAUSE_MS = 600_000;
/** The maximum number of remembered checks. Beyond it the one that was used longest ago is forgotten. */
const MAX_REMEMBERED_CHECKS = 10_000;
/** The maximum number of entities that are left out of a check. Beyond it the whole check pauses. */
const MAX_LEFT_OUT = 100;
const NONE: ReadonlySet<string> = new Set();

type SelectionStops = Pick<Selection, 'stopped' | 'stoppedEntities' | 'decided'>;

interface Pause {
  pauseMs: number;
  /** Monotonic ms. */
  untilMs: number;
  entities: ReadonlySet<string>;
  /** Whether the check does not run at all. */
  isWhole: boolean;
  /** The first reason why expressions were stopped. */
  reason: string;
}

/**
 * Pauses after the expressions of a check were stopped. The selections of the check leave out the entities at which that
 * happened, so that they do not stop the check for the others. The whole check pauses when a selection ended without
 * deciding any entity.
 */
export class ExpressionPauses {
  readonly #pauses = new LRUCache<string, Pause>(atMost(MAX_REMEMBERED_CHECKS));
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns why the check must not run now; undefined when it may run. */
  pauseOf(key: string): string | undefined {
    const pause = this.#paused(key);
    if (pause?.isWhole !== true) return undefined;
    return `not evaluated for ${pause.pauseMs / 1_000} s after ${pause.reason}`;
  }

  /** Returns the names of the entities that the next selection of the check leaves out. */
  leftOut(key: string): ReadonlySet<string> {
    return this.#paused(key)?.entities ?? NONE;
  }

  /** Records the end of a selection for the check: begins or extends its pause, or ends the doubling. */
  selected(key: string, { stoppedEntities, decided, stopped = '' }: SelectionStops): void {
    const known = this.#pauses.get(key);
    const paused = this.#paused(key);
    if (stoppedEntities.length === 0) {
      if (paused === undefined) this.#pauses.delete(key);
      return;
    }
    const pauseMs = known === undefined ? FIRST_PAUSE_MS : Math.min(2 * known.pauseMs, LONGEST_PAUSE_MS);
    const entities = new Set([...(paused?.entities ?? NONE), ...stoppedEntities]);
    const isStuck = stoppedEntities.length >= MAX_STOPPED && decided === 0;
    const isWhole = isStuck || entities.size > MAX_LEFT_OUT;
    const untilMs = this.#clock.monotonicMs() + pauseMs;
    this.#pauses.set(key, { pauseMs, untilMs, entities, isWhole, reason: stopped });
  }

  /** Ends the pauses of a check that was changed or deleted. */
  delete(key: string): void {
    this.#pauses.delete(key);
  }

  #paused(key: string): Pause | undefined {
    const pause = this.#pauses.get(key);
    return pause !== undefined && this.#clock.monotonicMs() < pause.untilMs ? pause : undefined;
  }
}
