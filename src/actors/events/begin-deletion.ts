import type { DeletedKind, DeletionEvent, EarlierDeletion, PendingDeletion } from '../../store/records/records.ts';
import type { DecisionContext } from '../core/decision-context.ts';

/**
 * The maximum number of events, check TTLs or silences that one decision deletes, so that no decision takes long. If
 * there are more, the decision stores a pending deletion, which hides them at once; each further decision deletes as
 * many as this.
 */
export const DELETED_PER_STEP = 50;

/** Holds the id of the last pending deletion. */
const LAST_ID_KEY = 'last-deletion';

/**
 * The number of replaced deletions that a pending one remembers. Beyond it the latest ones are forgotten, and their items
 * end with the reason of the next deletion.
 */
const MAX_EARLIER = 8;

const lastId = (ctx: DecisionContext): number => (ctx.get('meta', LAST_ID_KEY) as number | undefined) ?? 0;

/**
 * Hides all items with this prefix. A deletion that is already pending for the prefix begins again: the items that it hid
 * end with its event and cause, and those that were written since then with the new ones.
 */
export function beginDeletion(ctx: DecisionContext, kind: DeletedKind, prefix: string, event: DeletionEvent): void {
  const key = `${kind}/${prefix}`;
  const id = lastId(ctx) + 1;
  ctx.put('meta', LAST_ID_KEY, id);
  const earlier = earlierThan(ctx.get('deletions', key));
  ctx.put('deletions', key, { id, event, cause: ctx.cause, after: '', ...(earlier.length === 0 ? {} : { earlier }) });
  ctx.announce({ type: 'deletion.pending', kind, prefix });
}

function earlierThan(replaced: PendingDeletion | undefined): EarlierDeletion[] {
  if (replaced === undefined) return [];
  const { id, event, cause, earlier = [] } = replaced;
  return [...earlier, { id, event, cause }].slice(0, MAX_EARLIER);
}

/** Returns why a deletion ends an item: the first deletion that found it. */
export function endOf(
  ctx: DecisionContext,
  kind: DeletedKind,
  item: string,
  deletion: PendingDeletion,
): Pick<EarlierDeletion, 'event' | 'cause'> {
  const renewedAt = ctx.get('renewals', `${kind}/${item}`)?.id ?? 0;
  return deletion.earlier?.find(({ id }) => id > renewedAt) ?? deletion;
}

/** Makes an item visible that pending deletions hide, whether it is stored yet or not. */
export function renewItem(ctx: DecisionContext, kind: DeletedKind, item: string): void {
  ctx.put('renewals', `${kind}/${item}`, { id: lastId(ctx) });
}
