import type { CheckEvent } from '../../resources/event.ts';
import { type SilenceRecord, silencedName } from '../../resources/silenced.ts';
import { isOver, nextChangeAtMs, stateAt } from '../../rules/silencing.ts';
import { actingSilences } from '../../store/acting-silences.ts';
import type { LedgerCause } from '../../store/ledger/ledger.ts';
import { entityKey, resourceKey, silenceCountKey } from '../../store/encoding/keyspace.ts';
import { silenceGroup } from '../../store/commit/object-groups.ts';
import { readResource } from '../../store/resource-store.ts';
import { hiddenBy, hidesSilence, SILENCES } from '../../store/records/pending-deletions.ts';
import { NO_INPUT, type ReachedDeadline } from '../time/deadline-queue.ts';
import type { DecisionContext } from '../core/decision-context.ts';
import { beginDeletion, DELETED_PER_STEP, endOf, renewItem } from './begin-deletion.ts';

/** The actor name in the ledger and in the deadline queue. Changes of the entries are recorded under `silenced`. */
export const SILENCE = 'silence';

export interface Silencing {
  /** Whether the event ends a problem, and with it the entries with `expire_on_resolve`. */
  isResolution: boolean;
  /** The key of the event, `<namespace>/<entity>/<check>`. */
  key: string;
  cause: LedgerCause;
}

/** Returns the names of the entries that apply to an event now. Ends those that end with a resolution and omits them. */
export function silence(ctx: DecisionContext, event: CheckEvent, { isResolution, key, cause }: Silencing): string[] {
  const acting = actingOn(ctx, event);
  if (acting.length === 0) return [];
  const ending = isResolution ? acting.filter(({ expire_on_resolve }) => expire_on_resolve) : [];
  for (const record of ending) endSilence(ctx, record, 'check.resolved', { cause, details: { event: key } });
  return acting.filter((record) => !ending.includes(record)).map(silencedName);
}

/** Sets the silences of an event that is published and not stored. */
export function withSilences(ctx: DecisionContext, event: CheckEvent): CheckEvent {
  const silenced = actingOn(ctx, event).map(silencedName);
  if (silenced.length === 0) return event;
  return { ...event, check: { ...event.check, silenced, is_silenced: true } };
}

const actingOn = (ctx: DecisionContext, event: CheckEvent): SilenceRecord[] =>
  actingSilences(ctx.decision, event, {
    nowS: ctx.nowS,
    matchEntitySubscriptions: ctx.settings.silencesMatchEntitySubscriptions,
  });

/** Returns the stored number of entries of a namespace. Events of a namespace without entries are merged without a lookup. */
function countIn(ctx: DecisionContext, namespace: string): number {
  return (ctx.get('resources', silenceCountKey(namespace)) as { count: number } | undefined)?.count ?? 0;
}

function changeCount(ctx: DecisionContext, namespace: string, by: 1 | -1): void {
  const key = silenceCountKey(namespace);
  const count = countIn(ctx, namespace) + by;
  if (count > 0) ctx.put('resources', key, { count });
  else ctx.delete('resources', key);
}

const keyOf = ({ metadata: { namespace = '' }, ...silenced }: SilenceRecord): string =>
  entityKey(namespace, silencedName(silenced));

/** Returns the stored entry. Ends an entry that is over, in case its deadline is late. */
export function currentSilence(ctx: DecisionContext, namespace: string, name: string): SilenceRecord | undefined {
  const record = readResource(ctx.decision, 'silenced', namespace, name);
  if (record === undefined || !isOver(record, ctx.nowS)) return record;
  endSilence(ctx, record, 'expiry.reached');
  return undefined;
}

/** Replaces `previous` by an entry in its current state and arms the deadline of its next change. */
export function storeSilence(ctx: DecisionContext, record: SilenceRecord, previous: SilenceRecord | undefined): void {
  const { namespace = '', name = '' } = record.metadata;
  if (ctx.decision.seesDeletions) renewSilence(ctx, entityKey(namespace, name), record);
  if (previous === undefined) changeCount(ctx, namespace, 1);
  enter(ctx, record, previous?.state ?? null, previous === undefined ? 'silence.created' : 'silence.updated');
  ctx.put('resources', resourceKey('silenced', namespace, name), record);
  ctx.decision.tally.move('silences', previous && silenceGroup(previous), silenceGroup(record));
  arm(ctx, record);
}

/**
 * Prepares the name of an entry that is to be written: ends an entry that a pending deletion hides under that name, and makes the
 * steps of the deletion keep the new one.
 */
function renewSilence(ctx: DecisionContext, item: string, record: SilenceRecord): void {
  const { stored } = ctx.decision;
  const hidden = stored.get('resources', SILENCES + item) as SilenceRecord | undefined;
  const prefix = hiddenBy(stored, 'silences', item);
  const deletion = prefix === undefined ? undefined : ctx.get('deletions', `silences/${prefix}`);
  const end = deletion && endOf(ctx, 'silences', item, deletion);
  if (end !== undefined || hidesSilence(stored, item, record)) renewItem(ctx, 'silences', item);
  if (hidden === undefined || end === undefined) return;
  const { cause, event } = end;
  endSilence(ctx, hidden, event as SilenceEnd, { cause });
}

export type SilenceEnd =
  'silence.deleted' | 'expiry.reached' | 'check.resolved' | 'entity.deleted' | 'entity.deregistered';

/** Deletes an entry and records it. */
export function endSilence(
  ctx: DecisionContext,
  record: SilenceRecord,
  event: SilenceEnd,
  more: { cause?: LedgerCause; details?: Record<string, unknown> } = {},
): void {
  const { namespace = '', name = '' } = record.metadata;
  ctx.delete('resources', resourceKey('silenced', namespace, name));
  ctx.decision.tally.move('silences', silenceGroup(record), undefined);
  changeCount(ctx, namespace, -1);
  ctx.decision.deadlines.push({ actor: SILENCE, key: keyOf(record), atMs: undefined, sinceMs: NO_INPUT });
  const details = { ...explanationOf(record), ...more.details };
  const explained = Object.keys(details).length > 0 ? { details } : {};
  ctx.record({ actor: SILENCE, key: keyOf(record), from: record.state, event, to: null, ...more, ...explained });
}

const explanationOf = ({ reason, creator }: SilenceRecord): { reason?: string; creator?: string } => ({
  ...(reason === undefined ? {} : { reason }),
  ...(creator === undefined ? {} : { creator }),
});

/** Records a transition with the reason and the creator of the entry, and its times, which decide to which events it applies. */
function enter(ctx: DecisionContext, record: SilenceRecord, from: string | null, event: string): void {
  const { begin, expire_at, state } = record;
  const details = { begin, expire_at, ...explanationOf(record) };
  ctx.record({ actor: SILENCE, key: keyOf(record), from, event, to: state, details });
}

function arm(ctx: DecisionContext, record: SilenceRecord): void {
  const deadline = silenceDeadline(record);
  const { atMs, sinceMs } = deadline ?? { atMs: undefined, sinceMs: NO_INPUT };
  ctx.decision.deadlines.push({ actor: SILENCE, key: keyOf(record), atMs, sinceMs });
}

/** Returns when a stored entry begins or ends. This deadline is wall time, which blind time does not move. */
export function silenceDeadline(record: SilenceRecord): { atMs: number; sinceMs: number } | undefined {
  const atMs = nextChangeAtMs(record);
  return atMs === undefined ? undefined : { atMs, sinceMs: NO_INPUT };
}

/** Handles the start or the end of an entry. Events do not depend on it; they use the times of the entry. */
export function silenceDue(ctx: DecisionContext, { key }: ReachedDeadline): void {
  const slash = key.indexOf('/');
  const record = currentSilence(ctx, key.slice(0, slash), key.slice(slash + 1));
  if (record === undefined) return;
  // The entry stays begun even if the wall clock was set back since.
  const begins = record.state === 'pending' && stateAt(record, ctx.nowS) === 'active';
  if (begins) begin(ctx, record);
  else arm(ctx, record);
}

function begin(ctx: DecisionContext, record: SilenceRecord): void {
  const begun: SilenceRecord = { ...record, state: 'active' };
  enter(ctx, begun, record.state, 'begin.reached');
  ctx.decision.tally.move('silences', silenceGroup(record), silenceGroup(begun));
  ctx.put('resources', resourceKey('silenced', record.metadata.namespace, silencedName(record)), begun);
  arm(ctx, begun);
}

/** Ends the entries on the subscription `entity:<name>` of a deleted entity. */
export function endSilencesOfEntity(
  ctx: DecisionContext,
  namespace: string,
  entity: string,
  event: 'entity.deleted' | 'entity.deregistered',
): void {
  if (countIn(ctx, namespace) === 0) return;
  const subscription = `entity:${entity}`;
  const prefix = resourceKey('silenced', namespace, `${subscription}:`);
  const keys = ctx.decision.fewKeys(DELETED_PER_STEP, 'resources', prefix);
  if (keys === undefined) {
    beginDeletion(ctx, 'silences', entityKey(namespace, `${subscription}:`), event);
    return;
  }
  for (const key of keys) {
    const record = ctx.get('resources', key) as SilenceRecord | undefined;
    if (record?.subscription === subscription) endSilence(ctx, record, event);
  }
}
