import type { DeletedKind, DeletionEvent } from '../../store/records.ts';
import type { DecisionContext } from '../core/decision-context.ts';

/**
 * The maximum number of events, check TTLs or silences that one decision deletes, so that no decision takes long. If
 * there are more, the decision stores a pending deletion, which hides them at once; each further decision deletes as
 * many as this.
 */
export const DELETED_PER_STEP = 50;

/** Holds the id of the last pending deletion. */
const LAST_ID_KEY = 'last-deletion';

const lastId = (ctx: DecisionContext): number => (ctx.get('meta', LAST_ID_KEY) as number | undefined) ?? 0;

/** Hides all items with this prefix. A deletion that is already pending for the prefix begins again and keeps its cause. */
export function beginDeletion(ctx: DecisionContext, kind: DeletedKind, prefix: string, event: DeletionEvent): void {
  const key = `${kind}/${prefix}`;
  const id = lastId(ctx) + 1;
  ctx.put('meta', LAST_ID_KEY, id);
  ctx.put('deletions', key, { id, event, cause: ctx.get('deletions', key)?.cause ?? ctx.cause, after: '' });
  ctx.announce({ type: 'deletion.pending' });
}

/** Makes an item visible that pending deletions hide, whether it is stored yet or not. */
export function renewItem(ctx: DecisionContext, kind: DeletedKind, item: string): void {
  ctx.put('renewals', `${kind}/${item}`, { id: lastId(ctx) });
}
