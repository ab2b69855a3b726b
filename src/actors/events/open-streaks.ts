import { withStreaks } from '../../store/records/encoded-event.ts';
import { notificationKey } from '../../store/encoding/keyspace.ts';
import { ifIntact } from '../../store/encoding/sealed.ts';
import type { EventRecord, OpenStreak, OpenStreaks } from '../../store/records/records.ts';
import type { DecisionContext } from '../core/decision-context.ts';

/** The open streaks that the record of an event holds, and the characters of their reasons. With more they are stored apart. */
const MAX_STREAKS_IN_EVENT = 16;
const MAX_REASONS_IN_EVENT = 2_000;

const NONE: readonly OpenStreak[] = [];

/** The stored event of a key. It also has what a pending deletion of its check TTL hides, so that it can be written again. */
function eventRecord(ctx: DecisionContext, key: string): EventRecord | undefined {
  const visible = ctx.get('events', key);
  return visible === undefined || !ctx.decision.seesDeletions ? visible : ctx.decision.stored.get('events', key);
}

const fitsInEvent = (streaks: readonly OpenStreak[]): boolean =>
  streaks.length <= MAX_STREAKS_IN_EVENT &&
  streaks.reduce((characters, { reason }) => characters + reason.length, 0) <= MAX_REASONS_IN_EVENT;

/** The open streaks of an event's key, while outcomes are counted in them. They are stored afterwards, all at once. */
export class KeyStreaks {
  readonly key: string;
  readonly #stored: OpenStreaks;
  #before: readonly OpenStreak[] | undefined;
  #now: readonly OpenStreak[] | undefined;

  /** `stored` is what the record of the event has; `apart` if there is no event. */
  constructor(key: string, stored: OpenStreaks = NONE) {
    this.key = key;
    this.#stored = stored;
  }

  /** The streaks as they are now. Those that are stored apart are read at the first use. */
  list(ctx: DecisionContext): readonly OpenStreak[] {
    if (this.#now !== undefined) return this.#now;
    this.#before = this.#stored === 'apart' ? (ctx.get('openStreaks', this.key) ?? NONE) : this.#stored;
    this.#now = this.#before;
    return this.#before;
  }

  replace(streaks: readonly OpenStreak[]): void {
    this.#now = streaks;
  }

  /** Returns what the record of the event is to hold: the streaks if they are few, otherwise they are stored apart. */
  inEvent(ctx: DecisionContext): OpenStreaks {
    const now = this.#now;
    if (now === undefined || now === this.#before) return this.#stored;
    const { key } = this;
    const wereApart = this.#stored === 'apart';
    if (fitsInEvent(now)) {
      if (wereApart) ctx.delete('openStreaks', key);
      return now;
    }
    // The streaks of an earlier event of the key may have remained.
    if (!wereApart) for (const streak of ctx.get('openStreaks', key) ?? NONE) endStreak(ctx, key, streak);
    ctx.put('openStreaks', key, now);
    return 'apart';
  }

  /** Stores the streaks of a key without an event. */
  storeApart(ctx: DecisionContext): void {
    const now = this.#now;
    if (now === undefined || now === this.#before) return;
    if (now.length === 0) ctx.delete('openStreaks', this.key);
    else ctx.put('openStreaks', this.key, now);
  }
}

/**
 * Lets `change` count outcomes in the open streaks of a key, and stores them: in the record of the event if it exists and they
 * are few. The merge of an event does this itself, because it writes the record anyway.
 */
export function changeStreaks<T>(ctx: DecisionContext, key: string, change: (streaks: KeyStreaks) => T): T {
  const record = eventRecord(ctx, key);
  const streaks = new KeyStreaks(key, record === undefined ? 'apart' : record.streaks);
  const result = change(streaks);
  if (record === undefined) {
    streaks.storeApart(ctx);
    return result;
  }
  const inEvent = streaks.inEvent(ctx);
  if (inEvent !== (record.streaks ?? NONE)) ctx.put('events', key, withStreaks(record, inEvent));
  return result;
}

/** Stores the number of outcomes of a streak and the time of the last one in its notification. A damaged one is left as it is. */
export function endStreak(ctx: DecisionContext, key: string, { number, count, atMs }: OpenStreak): void {
  const logKey = notificationKey(key, number);
  const notification = ifIntact(() => ctx.get('notificationLog', logKey));
  if (notification !== undefined) {
    ctx.put('notificationLog', logKey, { ...notification, count, atMs, isOpen: undefined });
  }
}

/** Ends the streaks of an event that is deleted. Those that are stored apart stay open. */
export function endStreaks(ctx: DecisionContext, key: string, streaks: OpenStreaks = NONE): void {
  if (streaks !== 'apart') for (const streak of streaks) endStreak(ctx, key, streak);
}
