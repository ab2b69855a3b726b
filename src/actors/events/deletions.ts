import type { SilenceRecord } from '../../resources/silenced.ts';
import { eventAddress, eventKey } from '../../store/encoding/keyspace.ts';
import type { LedgerCause } from '../../store/ledger/ledger.ts';
import { hiddenBy, isCoveredBeside, SILENCES, ttlItem } from '../../store/records/pending-deletions.ts';
import type { DeletedKind } from '../../store/records/records.ts';
import type { DecisionContext } from '../core/decision-context.ts';
import { beginDeletion, DELETED_PER_STEP, endOf, renewItem } from './begin-deletion.ts';
import { deleteEvent, type EventEnd } from './delete-event.ts';
import { disarmTtl } from './disarm-ttl.ts';
import { endSilence, type SilenceEnd } from './silences.ts';

/** Deletes the events whose keys begin with `prefix`: those of an entity, or of a namespace. */
export function deleteEvents(ctx: DecisionContext, prefix: string, end: EventEnd): void {
  const keys = ctx.decision.fewKeys(DELETED_PER_STEP, 'events', prefix);
  if (keys === undefined) beginDeletion(ctx, 'events', prefix, end);
  else for (const key of keys) deleteEvent(ctx, key, end);
}

/** Ends the check TTLs of a deleted check. `keys` are its events; undefined when they are more than one decision may change. */
export function disarmTtls(
  ctx: DecisionContext,
  namespace: string,
  check: string,
  keys: Iterable<string> | undefined,
): void {
  if (keys === undefined) beginDeletion(ctx, 'ttls', `${namespace}/${check}/`, 'check.deleted');
  else for (const key of keys) disarmTtl(ctx, key);
}

/**
 * Prepares the key of an event that is to be written. If a pending deletion hides the stored event, or its check TTL, this deletes
 * it now, so that the new event begins without it and the later steps keep the new one.
 */
export function renewEvent(ctx: DecisionContext, key: string): void {
  if (!ctx.decision.seesDeletions) return;
  renew(ctx, 'events', key);
  renew(ctx, 'ttls', ttlItem(key));
}

function renew(ctx: DecisionContext, kind: DeletedKind, item: string): void {
  const prefix = hiddenBy(ctx.decision.stored, kind, item);
  const deletion = prefix === undefined ? undefined : ctx.get('deletions', `${kind}/${prefix}`);
  if (deletion === undefined) return;
  const end = endOf(ctx, kind, item, deletion);
  renewItem(ctx, kind, item);
  deleteItem(ctx, kind, item, end);
}

type End = ReturnType<typeof endOf>;

function deleteItem(ctx: DecisionContext, kind: DeletedKind, item: string, { event, cause }: End): void {
  ctx.because(cause, () => {
    if (kind === 'events') deleteEvent(ctx, item, event as EventEnd);
    else if (kind === 'ttls') disarmTtl(ctx, eventKeyOf(item));
    else deleteSilence(ctx, item, event as SilenceEnd);
  });
}

function deleteSilence(ctx: DecisionContext, item: string, end: SilenceEnd): void {
  const record = ctx.get('resources', SILENCES + item);
  if (record !== undefined) endSilence(ctx, record as SilenceRecord, end);
}

/** Returns the key of the event of a check TTL. */
function eventKeyOf(item: string): string {
  const { namespace, entity: check, check: entity } = eventAddress(item);
  return eventKey(namespace, entity, check);
}

/** The next items of a pending deletion, as they are stored. */
export interface DeletionStep {
  kind: DeletedKind;
  prefix: string;
  /** The id of the deletion that was read with the items. */
  id: number;
  cause: LedgerCause;
  /** The keys of the stored items, in order. */
  items: readonly string[];
  /** The keys in the table `renewals` of the stored renewals, in order. */
  renewed: readonly string[];
  /** The key up to which both lists are complete; undefined when nothing is left after them. */
  upTo: string | undefined;
}

/** Deletes the items of a step that are hidden, and the deletion itself after the last step. */
export function applyDeletionStep(
  ctx: DecisionContext,
  { kind, prefix, id, items, renewed, upTo }: DeletionStep,
): void {
  const key = `${kind}/${prefix}`;
  const deletion = ctx.get('deletions', key);
  if (deletion === undefined) return;
  if (deletion.id !== id) {
    // A later deletion has replaced this one, and begins again. These items are deleted all the same, so that requests that repeat
    // the deletion do not keep it from its end.
    for (const item of items) renew(ctx, kind, item);
    return;
  }
  const isDone = (item: string): boolean => upTo === undefined || item <= upTo;
  const ended = items.filter((item) => isDone(item) && hiddenBy(ctx.decision.stored, kind, item) !== undefined);
  if (upTo === undefined) ctx.delete('deletions', key);
  else ctx.put('deletions', key, { ...deletion, after: upTo });
  // The items are visible now, unless another deletion hides them too. That one then deletes them.
  for (const item of ended) deleteItem(ctx, kind, item, endOf(ctx, kind, item, deletion));
  // The last step also covers renewals that were not durable when an earlier step passed them.
  const passed = upTo === undefined ? ctx.decision.keys('renewals', key) : renewed;
  for (const renewal of passed) {
    const item = renewal.slice(kind.length + 1);
    if (isDone(item) && !isCoveredBeside(ctx.decision.stored, kind, item, prefix)) ctx.delete('renewals', renewal);
  }
}
