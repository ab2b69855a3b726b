import type { Clock } from '../ports/clock.ts';
import { executedTimes } from '../rules/check-history.ts';
import { eventKey, type EventAddress } from '../store/encoding/keyspace.ts';
import type { NotificationStore } from '../store/notification-store.ts';
import { readResource } from '../store/resource-store.ts';
import type { TableReader } from '../store/records/table-reader.ts';
import type { TickStore } from '../store/tick-store.ts';
import { blindTimesOf } from './blind-times.ts';
import { changeOf, type ChangesAround, stateAfter } from './check-changes.ts';
import { connectionsOf } from './connections.ts';
import { dueOf } from './due.ts';
import type { Explanation, RecordedState, StateAt } from './explanation.ts';
import { outcomesOf } from './handlers.ts';
import { entriesUpTo, entryAfter, type LedgerReader } from './key-history.ts';
import { silencesOf } from './silences.ts';
import { ticksOf } from './ticks.ts';

/** The maximum number of changes of the event that are read back from the moment. */
const MAX_CHANGES = 200;
/** The maximum number of changes in an explanation, the newest first. */
const MAX_SHOWN_CHANGES = 20;
/** The longest time before the moment for which watching is explained. */
const MAX_WATCHED_MS = 7 * 86_400_000;

/** A running schedule records a tick within this time. */
const TAKEN_WITHIN_MS = 2_000;

const CHECK_STATE = 'check-state';

export interface ExplainerPorts {
  ledger: LedgerReader;
  /** Without what pending deletions hide. */
  records: TableReader;
  notifications: Pick<NotificationStore, 'around'>;
  ticks: Pick<TickStore, 'ofCheck' | 'ofEntity' | 'nextOf'>;
  clock: Pick<Clock, 'nowMs'>;
}

/** Collects what was recorded about an event at a moment. Nothing is derived from the current configuration. */
export class Explainer {
  readonly #ports: ExplainerPorts;

  constructor(ports: ExplainerPorts) {
    this.#ports = ports;
  }

  /**
   * Explains an event at a moment, by default now, with the outcomes of all handlers or of one. Undefined when there is no record
   * of the event.
   */
  async explain(
    address: EventAddress,
    askedAtMs: number | undefined,
    handler?: string,
  ): Promise<Explanation | undefined> {
    const { ledger, records, clock } = this.#ports;
    const nowMs = clock.nowMs();
    const atMs = Math.min(askedAtMs ?? nowMs, nowMs);
    const around = await this.#changes(address, atMs);
    const recorded = stateAfter(around);
    if (recorded === undefined) return undefined;
    const state = recorded.kind === 'recorded' ? this.#counted(recorded, address, atMs) : recorded;
    const fromMs = Math.max(beginOf(state, atMs), atMs - MAX_WATCHED_MS);
    const due = dueAt(state, dueOf(records, address), atMs);
    const { change } = state.kind === 'recorded' ? state : { change: undefined };
    const silences =
      change === undefined ? { items: [], hasMore: false } : await silencesOf(ledger, address.namespace, change, atMs);
    return {
      ...address,
      isProxy: isProxy(records, address),
      atMs,
      isPast: askedAtMs !== undefined && askedAtMs < nowMs,
      state,
      changes: {
        items: around.before.slice(0, MAX_SHOWN_CHANGES),
        hasMore: around.isCut || around.before.length > MAX_SHOWN_CHANGES,
      },
      due,
      silences,
      asked: handler === undefined ? undefined : { handler, exists: exists(records, address, handler) },
      handlers: outcomesOf(this.#ports.notifications, address, { fromMs, atMs, handler }),
      watching: await this.#watching(
        address,
        Math.max(watchedFrom(state, around, fromMs), atMs - MAX_WATCHED_MS),
        atMs,
      ),
    };
  }

  /** Reads the changes up to the moment, back to the beginning of the problem. */
  async #changes({ namespace, entity, check }: EventAddress, atMs: number): Promise<ChangesAround> {
    const { ledger } = this.#ports;
    const key = eventKey(namespace, entity, check);
    const moment = { actor: CHECK_STATE, key, untilMs: atMs };
    const { entries, hasMore } = await entriesUpTo(ledger, moment, { limit: MAX_CHANGES });
    const next = entryAfter(ledger, CHECK_STATE, key, entries[0]?.seq ?? 0);
    return { before: entries.map(changeOf), isCut: hasMore, next: next && changeOf(next) };
  }

  /** Adds the results since the last change, which only the stored event knows. */
  #counted(state: RecordedState, { namespace, entity, check }: EventAddress, atMs: number): RecordedState {
    if (state.next !== undefined) return state;
    const stored = this.#ports.records.get('events', eventKey(namespace, entity, check))?.state;
    if (stored === undefined) return state;
    const executed = executedTimes(stored.history);
    const later = executed.filter((executedS) => executedS * 1_000 > atMs).length;
    // Results that precede the history may also be later than the moment.
    if (later >= executed.length) return { ...state, occurrences: { ...state.occurrences, most: stored.occurrences } };
    const counted = Math.max(stored.occurrences - later, state.occurrences.least);
    return { ...state, occurrences: { least: counted, most: counted } };
  }

  async #watching(address: EventAddress, fromMs: number, atMs: number): Promise<Explanation['watching']> {
    const { ledger, ticks } = this.#ports;
    const nextTickMs = ticks.nextOf(address.namespace, address.check);
    return {
      fromMs,
      connections: await connectionsOf(ledger, address, fromMs, atMs),
      blind: await blindTimesOf(ledger, fromMs, atMs),
      ticks: await ticksOf(ticks, address, fromMs, atMs),
      unrecordedSinceMs: nextTickMs !== undefined && nextTickMs < atMs - TAKEN_WITHIN_MS ? nextTickMs : undefined,
    };
  }
}

/** An entity that does not exist any more may have had an agent. */
const isProxy = (records: TableReader, { namespace, entity }: EventAddress): boolean =>
  readResource(records, 'entities', namespace, entity)?.entity_class === 'proxy';

const exists = (records: TableReader, { namespace }: EventAddress, handler: string): boolean =>
  readResource(records, 'handlers', namespace, handler) !== undefined;

/** The beginning of what is explained: the problem, or the state without one. */
function beginOf(state: StateAt, atMs: number): number {
  if (state.kind === 'recorded') return (state.problem ?? state.begin).atMs;
  return state.kind === 'deleted' ? state.change.atMs : atMs;
}

/** Watching is explained from the last recorded receipt before the moment on. */
function watchedFrom(state: StateAt, { before }: ChangesAround, fromMs: number): number {
  if (state.kind !== 'recorded') return fromMs;
  const begin = state.problem ?? state.begin;
  const previous = before[before.indexOf(begin) + 1]?.atMs ?? fromMs;
  return Math.min(fromMs, previous, begin.overdue?.sinceMs ?? fromMs);
}

/** The present deadline counts only if nothing was received after the moment. */
function dueAt(state: StateAt, due: Explanation['due'], atMs: number): Explanation['due'] {
  return state.kind === 'recorded' && state.next === undefined && due !== undefined && due.sinceMs <= atMs
    ? due
    : undefined;
}
