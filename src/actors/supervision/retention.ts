import { keyAfter } from '../../store/keyspace.ts';
import type { TransactionalStore } from '../../store/transactional-store.ts';
import type { DecisionContext } from '../core/decision-context.ts';

/** How long an unused agent queue is kept: events that an agent sends again after a longer absence may be stored twice. */
const KEEP_QUEUES_MS = 30 * 86_400_000;
/** Records that one step examines, which bounds its duration. */
const RECORDS_PER_STEP = 200;
/** Above every key. */
const END = '~';

/** Finds outdated queues of agents, a few at each step. They are not cleared when entities are deleted. */
export class Retention {
  readonly #store: TransactionalStore;
  #from = '';

  constructor(store: TransactionalStore) {
    this.#store = store;
  }

  /** The keys of the next few durable records; `forget` decides which of them are outdated. */
  step(): string[] {
    const keys = [...this.#store.keys('agentQueues', { from: this.#from, to: END, limit: RECORDS_PER_STEP })];
    const last = keys.at(-1);
    this.#from = last === undefined || keys.length < RECORDS_PER_STEP ? '' : keyAfter(last);
    return keys;
  }
}

/** Deletes those of the queues that are too old. */
export function forget(ctx: DecisionContext, keys: readonly string[]): void {
  for (const key of keys) forgetQueues(ctx, key);
}

function forgetQueues(ctx: DecisionContext, key: string): void {
  const known = ctx.get('agentQueues', key);
  if (known === undefined) return;
  const used = known.filter(({ usedAtMs }) => ctx.nowMs - usedAtMs < KEEP_QUEUES_MS);
  if (used.length === known.length) return;
  if (used.length === 0) ctx.delete('agentQueues', key);
  else ctx.put('agentQueues', key, used);
}
