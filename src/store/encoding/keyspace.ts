import type { ConfigurationKindName } from '../../resources/configuration-kinds.ts';

/**
 * Names consist of letters, digits and `_ . : -`. Joined by slashes they sort as the API lists them: bytewise, by
 * `<namespace>/<name>`. Names of assets may contain slashes; they are at the end of their keys.
 */
export const entityKey = (namespace: string, name: string): string => `${namespace}/${name}`;

export const eventKey = (namespace: string, entity: string, check: string): string => `${namespace}/${entity}/${check}`;

export interface EventAddress {
  namespace: string;
  entity: string;
  check: string;
}

export function eventAddress(key: string): EventAddress {
  // Twice as fast as splitting the key, which is done for each event.
  const first = key.indexOf('/');
  const second = first < 0 ? -1 : key.indexOf('/', first + 1);
  const third = second < 0 ? -1 : key.indexOf('/', second + 1);
  return {
    namespace: first < 0 ? key : key.slice(0, first),
    entity: first < 0 ? '' : key.slice(first + 1, second < 0 ? undefined : second),
    check: second < 0 ? '' : key.slice(second + 1, third < 0 ? undefined : third),
  };
}

/** The key of an event in the index by check. */
export function eventIndexKey(key: string): string {
  const { namespace, entity, check } = eventAddress(key);
  return `${namespace}/${check}/${entity}`;
}

/** Returns the namespace of the key of an event or of an entity. */
export const namespaceOfKey = (key: string): string => key.slice(0, key.indexOf('/'));

/** Kinds of configuration, by their names in API paths. */
export type ResourceKind = ConfigurationKindName | 'namespaces' | 'entities' | 'silenced' | 'users' | 'apikeys';

/** The key of a resource. `namespace` is undefined for cluster-wide kinds. */
export const resourceKey = (kind: ResourceKind, namespace: string | undefined, name: string): string =>
  namespace === undefined ? `${kind}/${name}` : `${kind}/${namespace}/${name}`;

/** The number of silences of a namespace. No kind has this name. */
export const silenceCountKey = (namespace: string): string => `silence-counts/${namespace}`;

/** The login sessions of a user. No kind has this name. */
export const tokenSessionsKey = (username: string): string => `token-sessions/${username}`;

/** The positions in the rings of a round-robin check. No kind has this name. */
export const ringPositionsKey = (namespace: string, check: string): string => `ring-turns/${namespace}/${check}`;

/** The outcomes of the ticks of a check; `key` is `<namespace>/<check>`. */
export const checkTicksKey = (key: string): string => `checks/${key}`;

/** The outcomes of the ticks of a check that concerned an entity; `key` is that of its event. */
export function entityTicksKey(key: string): string {
  const { namespace, entity, check } = eventAddress(key);
  return `entities/${namespace}/${check}/${entity}`;
}

/** When an agent was not connected; `key` is `<namespace>/<agent>`. */
export const agentTicksKey = (key: string): string => `agents/${key}`;

/** When the backend could not take ticks. */
export const OUTAGES_KEY = 'outages';

/** The number of entities. No kind has this name. */
export const ENTITY_COUNT_KEY = 'entity-count';

/** Whether telemetry is refused. No kind has this name. */
export const TESSEN_KEY = 'tessen';

/** Documents of clients of the first generation, by namespace and path. No kind has this name. */
export const stashKey = (namespace: string, path: string): string =>
  `stashes/${namespace}/${encodeURIComponent(path).replaceAll('~', '%7E')}`;

/** Deleted entities that results and keepalives must not create again. No kind has this name. */
export const refusedEntityKey = (namespace: string, name: string): string => `refused-entities/${namespace}/${name}`;

/** Sorts after every name. */
const END = '~';

/** All keys that start with `prefix` are in `[prefix, afterPrefix(prefix))`. */
export function afterPrefix(prefix: string): string {
  if (prefix === '') return END;
  const last = prefix.length - 1;
  return prefix.slice(0, last) + String.fromCharCode(prefix.charCodeAt(last) + 1);
}

/** The next possible key after a key. */
export const keyAfter = (key: string): string => `${key}\0`;

const SEQ_DIGITS = 16;

/** The index of the ledger by actor and key. No name contains `#`, so that the entries of a key are contiguous and in order. */
export const ledgerIndexKey = (actor: string, key: string, seq: number): string =>
  `${actor}/${key}#${String(seq).padStart(SEQ_DIGITS, '0')}`;

export const actorOfIndexKey = (indexKey: string): string => indexKey.slice(0, indexKey.indexOf('/'));

/** The index keys of an actor are before this key, and those of the next actor after it. */
export const afterIndexedActor = (actor: string): string => `${actor}0`;

/** The index of the ledger by actor has one entry for each block of this many numbers in which the actor has ledger entries. */
export const ENTRIES_PER_BLOCK = 64;
const BLOCK_DIGITS = 6;
const BLOCK_RADIX = 36;

export const blockOf = (seq: number): number => Math.floor(seq / ENTRIES_PER_BLOCK);

export const actorBlockKey = (actor: string, block: number): string =>
  `${actor}#${block.toString(BLOCK_RADIX).padStart(BLOCK_DIGITS, '0')}`;

/** The block keys of an actor are before this key. */
export const afterActorBlocks = (actor: string): string => afterPrefix(`${actor}#`);

/** The first number of the block. */
export const seqOfActorBlock = (blockKey: string): number =>
  Number.parseInt(blockKey.slice(-BLOCK_DIGITS), BLOCK_RADIX) * ENTRIES_PER_BLOCK;

export const seqOfIndexKey = (indexKey: string): number => Number(indexKey.slice(-SEQ_DIGITS));

const numberText = (number: number): string => String(number).padStart(SEQ_DIGITS, '0');

/** Numbers of notifications in a millisecond: the time of an outcome follows from its number, unless the clock was set back. */
export const NOTIFICATIONS_PER_MS = 1_000;

/** The key of a notification of an event. The notifications of a namespace are in the order of their numbers. */
export function notificationKey(eventKeyText: string, number: number): string {
  const { namespace, entity, check } = eventAddress(eventKeyText);
  return `${namespace}/${numberText(number)}/${entity}/${check}`;
}

export interface NotificationAddress extends EventAddress {
  number: number;
}

export function notificationAddress(key: string): NotificationAddress {
  const [namespace = '', number = '', entity = '', check = ''] = key.split('/');
  return { namespace, number: Number(number), entity, check };
}

/** The key of a notification in the index by event. */
export const notificationOfEventKey = (eventKeyText: string, number: number): string =>
  `${eventKeyText}/${numberText(number)}`;

/** Returns the number in a key of the index by event. */
export const numberOfEventNotification = (key: string): number => Number(key.slice(-SEQ_DIGITS));

/** The event of a key of the index by event. */
export const eventOfNotification = (key: string): string => key.slice(0, -SEQ_DIGITS - 1);

/** The keys of `meta` with the last number of a notification that an earlier namespace of the same name has. */
export const NOTIFICATION_FLOORS = 'notification-floor/';

/** The key of a dead letter: the oldest is the first of the table. */
export const deadLetterKey = (number: number, id: string): string => `${numberText(number)}/${id}`;
/** A part of the history of a record of ticks. No name contains `#`. */
export const tickHistoryKey = (key: string, id: number): string => `${key}#${String(id).padStart(SEQ_DIGITS, '0')}`;

export const numberOfDeadLetter = (key: string): number => Number(key.slice(0, SEQ_DIGITS));

/** The id of the notification of a dead letter. */
export const idOfDeadLetter = (key: string): string => key.slice(SEQ_DIGITS + 1);

/** The keys of the outbox are numbers in the order of decisions. */
export const outboxKey = (seq: number): string => String(seq).padStart(SEQ_DIGITS, '0');

/** LMDB accepts no longer keys. */
const MAX_KEY_BYTES = 1_978;
/** No UTF-16 unit takes more bytes in UTF-8. */
const MAX_BYTES_PER_UNIT = 3;

/** Whether there can be a record with this key. Events name handlers and pipelines with texts of any length. */
export const isPossibleKey = (key: string): boolean =>
  key.length * MAX_BYTES_PER_UNIT <= MAX_KEY_BYTES || Buffer.byteLength(key) <= MAX_KEY_BYTES;
