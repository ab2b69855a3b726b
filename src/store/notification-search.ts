import {
  eventKey,
  idOfDeadLetter,
  notificationAddress,
  notificationKey,
  numberOfDeadLetter,
  numberOfEventNotification,
} from './encoding/keyspace.ts';
import type { Outcome, TableName } from './records/records.ts';
import { NotificationReader, type StoredNotification } from './records/stored-notification.ts';
import type { RangeReader } from './commit/transactional-store.ts';

/** Keys that a slice reads. */
const MAX_SLICE_KEYS = 1_000;
/** Notifications that a slice reads. */
const MAX_SLICE_NOTIFICATIONS = 200;
const NUMBERS_PER_MS = 1_000;
/** Above every number. */
const END = '~';

/** The conditions that a notification must meet. */
export interface NotificationFilter {
  namespace: string;
  entity?: string;
  check?: string;
  handler?: string;
  pipeline?: string;
  outcome?: Outcome;
  isDeadLetter?: boolean;
  /** Its last outcome was at this time or later, Unix ms. */
  sinceMs?: number;
  /** It was decided at this time or before, Unix ms. */
  untilMs?: number;
}

/** The part of a search that is read at once. */
export interface NotificationSlice {
  /** Newest first, each with its position. */
  found: { position: string; notification: StoredNotification }[];
  /** Where the next slice begins; undefined at the end. */
  position: string | undefined;
}

export interface NotificationQuery extends NotificationFilter {
  /** The position after which the slice begins: `<number>/<entity>/<check>`. */
  after?: string;
  limit: number;
}

interface KeySlice {
  /** Newest first. */
  keys: string[];
  /** The position after them; undefined at the end. */
  end: string | undefined;
}

/** The position of a notification in its namespace. */
const positionOf = (key: string): string => key.slice(key.indexOf('/') + 1);

/** Reads the notifications of a namespace, newest first, a bounded number at a time. */
export class NotificationSearch {
  readonly #store: RangeReader;

  constructor(store: RangeReader) {
    this.#store = store;
  }

  /** Notifications up to the number `floor` are hidden. */
  slice(query: NotificationQuery, floor: number): NotificationSlice {
    const found: NotificationSlice['found'] = [];
    const { keys, end } = this.#keys(query);
    const reader = new NotificationReader(this.#store);
    let position: string | undefined;
    let read = 0;
    for (const key of keys) {
      if (found.length >= query.limit || read >= MAX_SLICE_NOTIFICATIONS) return { found, position };
      position = positionOf(key);
      if (notificationAddress(key).number <= floor || isBefore(key, query)) return { found, position: undefined };
      if (!matchesKey(key, query)) continue;
      read += 1;
      const notification = reader.read(key, query.handler);
      if (notification !== undefined && matches(notification, query)) found.push({ position, notification });
    }
    return { found, position: end };
  }

  /** The keys of the next notifications, from the table that has the fewest others, and the position after them. */
  #keys({ namespace, entity, check, isDeadLetter = false, after }: NotificationQuery): KeySlice {
    const [digits = END] = after?.split('/') ?? [];
    if (isDeadLetter) return this.#deadLetters(namespace, digits);
    if (entity !== undefined && check !== undefined) return this.#ofEvent(eventKey(namespace, entity, check), digits);
    const prefix = `${namespace}/`;
    const keys = this.#last('notificationLog', prefix, prefix + (after ?? END));
    return { keys, end: endOf(keys, positionOf) };
  }

  #ofEvent(event: string, before: string): KeySlice {
    const keys = this.#last('notificationsByEvent', `${event}/`, `${event}/${before}`).map((key) =>
      notificationKey(event, numberOfEventNotification(key)),
    );
    return { keys, end: endOf(keys, positionOf) };
  }

  /** Dead letters of all namespaces are in one order. */
  #deadLetters(namespace: string, before: string): KeySlice {
    const letters = this.#last('deadLetters', '', before);
    const keys = letters.flatMap((letter) => {
      const key = this.#store.get('notificationsById', idOfDeadLetter(letter));
      if (key?.startsWith(`${namespace}/`) !== true) return [];
      return notificationAddress(key).number === numberOfDeadLetter(letter) ? [key] : [];
    });
    return { keys, end: endOf(letters, (letter) => letter) };
  }

  /** The last keys of a range, the last first. */
  #last(table: TableName, from: string, to: string): string[] {
    return [...this.#store.keys(table, { from, to, limit: MAX_SLICE_KEYS, isReversed: true })];
  }
}

const endOf = (keys: readonly string[], position: (key: string) => string): string | undefined => {
  const last = keys.at(-1);
  return last === undefined || keys.length < MAX_SLICE_KEYS ? undefined : position(last);
};

/** Whether this notification and all older ones are before `sinceMs`: the time at which a notification was stored follows from its number, and a run has one outcome. */
function isBefore(key: string, { sinceMs, outcome, isDeadLetter = false }: NotificationQuery): boolean {
  const isRun = isDeadLetter || (outcome !== undefined && outcome !== 'denied' && outcome !== 'skipped');
  return sinceMs !== undefined && isRun && notificationAddress(key).number < sinceMs * NUMBERS_PER_MS;
}

function matchesKey(key: string, { entity, check }: NotificationFilter): boolean {
  if (entity === undefined && check === undefined) return true;
  const address = notificationAddress(key);
  return (entity ?? address.entity) === address.entity && (check ?? address.check) === address.check;
}

function matches({ notification }: StoredNotification, filter: NotificationFilter): boolean {
  const { pipeline, outcome, isDeadLetter, sinceMs = -Infinity, untilMs = Infinity } = filter;
  return (
    (pipeline === undefined || pipeline === notification.pipeline) &&
    (outcome ?? notification.outcome) === notification.outcome &&
    (isDeadLetter === undefined || isDeadLetter === (notification.isDeadLetter ?? false)) &&
    notification.atMs >= sinceMs &&
    notification.decidedAtMs <= untilMs
  );
}
