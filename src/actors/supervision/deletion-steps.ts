import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import { afterPrefix, keyAfter } from '../../store/encoding/keyspace.ts';
import { SILENCES, ttlItem } from '../../store/records/pending-deletions.ts';
import type { DeletedKind } from '../../store/records/records.ts';
import type { TransactionalStore } from '../../store/commit/transactional-store.ts';
import type { Decider } from '../core/decider.ts';
import type { SystemListener } from '../core/system-listeners.ts';
import { DELETED_PER_STEP } from '../events/begin-deletion.ts';
import { type DeletionStep, applyDeletionStep } from '../events/deletions.ts';
import { PacedSteps } from './paced-steps.ts';
import type { Pressure } from '../time/pressure.ts';

/** The time that other inputs have between two steps. */
const PAUSE_MS = 1;
/** The delay before a step that could not be taken is tried again. */
const RETRY_MS = 1_000;
/** Above every key. */
const END = '~';

export interface DeletionStepsPorts {
  store: Pick<TransactionalStore, 'range' | 'keys' | 'eventKeysOfCheck'>;
  decider: Pick<Decider, 'decide'>;
  pressure: Pick<Pressure, 'holdsDeletions'>;
  clock: Pick<Clock, 'after'>;
  log: Log;
}

/**
 * Carries out the pending deletions, one bounded step after the other. Each step is durable before the next one begins,
 * so that a new process continues where the former one ended.
 */
export class DeletionSteps implements SystemListener {
  readonly #ports: DeletionStepsPorts;
  readonly #steps: PacedSteps;

  constructor(ports: DeletionStepsPorts) {
    this.#ports = ports;
    this.#steps = new PacedSteps({
      ...ports,
      step: () => this.#step(),
      failure: 'could not continue a deletion, it is tried again',
      retryMs: RETRY_MS,
    });
  }

  /** Continues the deletions that the former process left. */
  start(): void {
    this.#steps.start(PAUSE_MS);
  }

  stop(): void {
    this.#steps.stop();
  }

  announced({ type }: { type: string }): void {
    if (type === 'deletion.pending') this.#steps.wake(PAUSE_MS);
  }

  /** Undefined when no deletion is pending. */
  async #step(): Promise<number | undefined> {
    const { decider, pressure } = this.#ports;
    const step = this.#next();
    if (step === undefined || pressure.holdsDeletions) return step && RETRY_MS;
    await decider.decide({ cause: step.cause, unbounded: true }, (ctx) => {
      applyDeletionStep(ctx, step);
    }).durable;
    return PAUSE_MS;
  }

  /** Reads the next items of the first pending deletion. Undefined when there is none. */
  #next(): DeletionStep | undefined {
    const { store } = this.#ports;
    for (const { key, value } of store.range('deletions', { from: '', to: END, limit: 1 })) {
      const slash = key.indexOf('/');
      const [kind, prefix] = [key.slice(0, slash) as DeletedKind, key.slice(slash + 1)];
      const { id, cause, after } = value;
      const items = this.#itemsAfter(kind, prefix, after);
      const from = `${kind}/${after === '' ? prefix : keyAfter(after)}`;
      const range = { from, to: afterPrefix(key), limit: DELETED_PER_STEP };
      const renewed = [...store.keys('renewals', range)];
      const upTo = firstOf(lastIfFull(items), lastIfFull(renewed)?.slice(kind.length + 1));
      return { kind, prefix, id, cause, items, renewed, upTo };
    }
    return undefined;
  }

  #itemsAfter(kind: DeletedKind, prefix: string, after: string): string[] {
    const { store } = this.#ports;
    if (kind === 'ttls') return this.#ttlsAfter(prefix, after);
    const [from, to, limit] = [after === '' ? prefix : keyAfter(after), afterPrefix(prefix), DELETED_PER_STEP];
    if (kind === 'events') return [...store.keys('events', { from, to, limit })];
    const keys = store.keys('resources', { from: SILENCES + from, to: SILENCES + to, limit });
    return [...keys].map((key) => key.slice(SILENCES.length));
  }

  #ttlsAfter(prefix: string, after: string): string[] {
    const [namespace = '', check = ''] = prefix.split('/');
    const items: string[] = [];
    for (const key of this.#ports.store.eventKeysOfCheck(namespace, check, after.slice(prefix.length))) {
      items.push(ttlItem(key));
      if (items.length >= DELETED_PER_STEP) break;
    }
    return items;
  }
}

/** Returns the last key of a list that has reached its limit, after which further keys may follow. */
const lastIfFull = (keys: readonly string[]): string | undefined =>
  keys.length < DELETED_PER_STEP ? undefined : keys.at(-1);

function firstOf(a: string | undefined, b: string | undefined): string | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return a < b ? a : b;
}
