import type { Notification } from '../../store/records.ts';
import type { TransactionalStore } from '../../store/transactional-store.ts';
import type { DecisionContext } from '../core/decision-context.ts';

/** What is left of an event that is gone can be asked for so long. */
const KEEP_NOTIFICATIONS_MS = 7 * 86_400_000;
/** An agent that sends again after a longer absence may be counted twice. */
const KEEP_QUEUES_MS = 30 * 86_400_000;
/** Looked at in one step, so that no step is long. */
const RECORDS_PER_STEP = 200;
/** Above every key. */
const END = '~';

const TABLES = ['notifications', 'agentQueues'] as const;

/** Forgets, a few records at each step, what nobody needs any more: it walks the tables that entities and events do not clear when they go. */
export class Retention {
  readonly #store: TransactionalStore;
  #table: (typeof TABLES)[number] = 'notifications';
  #from = '';

  constructor(store: TransactionalStore) {
    this.#store = store;
  }

  /** The keys of the next few records that may be forgotten, decided by what was durable; `forget` looks again. */
  step(): { table: (typeof TABLES)[number]; keys: string[] } {
    const table = this.#table;
    const keys = [...this.#store.keys(table, { from: this.#from, to: END, limit: RECORDS_PER_STEP })];
    const last = keys.at(-1);
    if (last === undefined || keys.length < RECORDS_PER_STEP) {
      this.#from = '';
      this.#table = table === 'notifications' ? 'agentQueues' : 'notifications';
    } else {
      this.#from = `${last}\0`;
    }
    return { table, keys };
  }
}

/** Deletes of these records what is too old. */
export function forget(ctx: DecisionContext, { table, keys }: ReturnType<Retention['step']>): void {
  for (const key of keys) {
    if (table === 'notifications') forgetNotifications(ctx, key);
    else forgetQueues(ctx, key);
  }
}

/** Those of an event that exists are bounded by their number. */
function forgetNotifications(ctx: DecisionContext, key: string): void {
  const kept = ctx.get('notifications', key);
  if (kept === undefined || ctx.get('events', key) !== undefined) return;
  const isRecent = ({ atMs }: Notification): boolean => ctx.nowMs - atMs < KEEP_NOTIFICATIONS_MS;
  if (!kept.some(isRecent)) ctx.delete('notifications', key);
}

function forgetQueues(ctx: DecisionContext, key: string): void {
  const known = ctx.get('agentQueues', key);
  if (known === undefined) return;
  const used = known.filter(({ usedAtMs }) => ctx.nowMs - usedAtMs < KEEP_QUEUES_MS);
  if (used.length === known.length) return;
  if (used.length === 0) ctx.delete('agentQueues', key);
  else ctx.put('agentQueues', key, used);
}
