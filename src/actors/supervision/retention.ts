import { keyAfter } from '../../store/encoding/keyspace.ts';
import { ifIntact } from '../../store/encoding/sealed.ts';
import type { TransactionalStore } from '../../store/commit/transactional-store.ts';
import type { DecisionContext } from '../core/decision-context.ts';
import { forgetTicks } from '../ticks/forget-ticks.ts';

/** How long an unused agent queue is kept: events that an agent sends again after a longer absence may be stored twice. */
const KEEP_QUEUES_MS = 30 * 86_400_000;
/** Records that one step examines, which bounds its duration. */
const RECORDS_PER_STEP = 200;
/** Above every key. */
const END = '~';

const TABLES = ['agentQueues', 'ticks'] as const;

/** Finds outdated records, a few at each step, in the tables that are not cleared when entities and events are deleted. */
export class Retention {
  readonly #store: TransactionalStore;
  #table: (typeof TABLES)[number] = 'agentQueues';
  #from = '';

  constructor(store: TransactionalStore) {
    this.#store = store;
  }

  /** The keys of the next few durable records; `forget` decides which of them are outdated. */
  step(): { table: (typeof TABLES)[number]; keys: string[] } {
    const table = this.#table;
    const keys = [...this.#store.keys(table, { from: this.#from, to: END, limit: RECORDS_PER_STEP })];
    const last = keys.at(-1);
    if (last === undefined || keys.length < RECORDS_PER_STEP) {
      this.#from = '';
      this.#table = table === 'ticks' ? 'agentQueues' : 'ticks';
    } else {
      this.#from = keyAfter(last);
    }
    return { table, keys };
  }
}

/** Deletes those of the records that are too old. A damaged record stays as it is. */
export function forget(ctx: DecisionContext, { table, keys }: ReturnType<Retention['step']>): void {
  const forgetOne = table === 'ticks' ? forgetTicks : forgetQueues;
  for (const key of keys) {
    ifIntact(() => {
      forgetOne(ctx, key);
    });
  }
}

function forgetQueues(ctx: DecisionContext, key: string): void {
  const known = ctx.get('agentQueues', key);
  if (known === undefined) return;
  const used = known.filter(({ usedAtMs }) => ctx.nowMs - usedAtMs < KEEP_QUEUES_MS);
  if (used.length === known.length) return;
  if (used.length === 0) ctx.delete('agentQueues', key);
  else ctx.put('agentQueues', key, used);
}
