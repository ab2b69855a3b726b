import { LRUCache } from 'lru-cache';
import { atMost } from '../ports/at-most.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import { type LoggedSubject, LogThrottle } from '../rules/log-throttle.ts';
import type { CheckRequested } from '../store/commit/decision.ts';

/** The checks whose warnings are throttled. The one that was requested longest ago is removed, and is logged again sooner. */
export const MAX_REMEMBERED_WARNINGS = 1_000;

/** Warns of check requests that agents received without their secrets, once a minute for each check. */
export class WithoutSecrets {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #log: Log;
  readonly #throttle = new LogThrottle(new LRUCache<string, LoggedSubject>(atMost(MAX_REMEMBERED_WARNINGS)));

  constructor(clock: Pick<Clock, 'monotonicMs'>, log: Log) {
    this.#clock = clock;
    this.#log = log;
  }

  sent({ namespace, request }: CheckRequested, sessions: number): void {
    const check = request.config.metadata.name ?? '';
    if (this.#throttle.note(`${namespace}/${check}`, this.#clock.monotonicMs()) === undefined) return;
    this.#log.warn(
      { namespace, check, sessions },
      'secrets will not be transmitted to agents without mutual TLS authentication (mTLS)',
    );
  }
}
