import { setImmediate as nextTick } from 'node:timers/promises';
import type { ActorKindName } from '../../resources/actor-address.ts';
import type { TransactionalStore } from '../../store/commit/transactional-store.ts';
import { VisibleStore } from '../../store/visible-store.ts';
import { statesOf } from './actor-list.ts';
import { type IsDisconnected, SharedRun } from './shared-run.ts';

/** The number of records in one step. Other work is done between two steps. */
const STEP_RECORDS = 250;
/** In the order of the answer. */
const KINDS = Object.keys({
  entity: true,
  'check-ttl': true,
  'check-state': true,
  connection: true,
  'check-schedule': true,
  silence: true,
} satisfies Record<ActorKindName, true>) as ActorKindName[];

export interface StateCounts {
  machine: ActorKindName;
  /** How many actors are in each top-level state; a state without an actor is absent. */
  states: Record<string, number>;
}

/** Counts actors by state, from their records. Requests at the same time share one count, because it reads every record. */
export class ActorCounts {
  readonly #store: TransactionalStore;
  readonly #run = new SharedRun((isWanted) => this.#counted(isWanted));

  constructor(store: TransactionalStore) {
    this.#store = store;
  }

  /**
   * Resolves with a count that began after the call. Changes during the count may or may not be in it. The count ends early
   * when all of its callers have left.
   */
  count(isDisconnected: IsDisconnected): Promise<StateCounts[]> {
    return this.#run.result(isDisconnected);
  }

  async #counted(isWanted: () => boolean): Promise<StateCounts[]> {
    const counts: StateCounts[] = [];
    for (const machine of KINDS) {
      counts.push({ machine, states: Object.fromEntries(await this.#countedOf(machine, isWanted)) });
    }
    return counts;
  }

  async #countedOf(machine: ActorKindName, isWanted: () => boolean): Promise<Map<string, number>> {
    const states = new Map<string, number>();
    const visible = new VisibleStore(this.#store);
    for (let from: string | undefined = ''; from !== undefined && isWanted();) {
      let read = 0;
      let rest: string | undefined;
      for (const { key, value } of statesOf(visible, machine, from)) {
        if (read >= STEP_RECORDS) {
          rest = key;
          break;
        }
        read += 1;
        if (value !== undefined) states.set(value, (states.get(value) ?? 0) + 1);
      }
      from = rest;
      if (from !== undefined) await nextTick();
    }
    return states;
  }
}
