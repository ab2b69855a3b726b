import { CONFIGURATION_KINDS } from '../../resources/configuration-kinds.ts';
import { SYSTEM_NAMESPACE } from '../../resources/namespace.ts';
import { isOpen } from '../../rules/incident.ts';
import type { CheckedStore } from './checked-store.ts';
import {
  afterPrefix,
  deadLetterKey,
  ENTITY_COUNT_KEY,
  eventAddress,
  eventKey,
  eventOfNotification,
  idOfDeadLetter,
  notificationAddress,
  notificationKey,
  notificationOfEventKey,
  numberOfDeadLetter,
  numberOfEventNotification,
  resourceKey,
  silenceCountKey,
} from '../encoding/keyspace.ts';
import { hiddenBy } from '../records/pending-deletions.ts';
import { TABLE_NAMES, type TableName, type Tables } from '../records/records.ts';

/** A damaged, inconsistent or missing record. */
export interface Finding {
  /** `<table> <key>`. */
  record: string;
  reason: string;
}

/**
 * Compares the records of a store with each other: every record must be readable, each index must have what its table has, and every
 * resource must be in a namespace that exists. No process may write the store meanwhile.
 */
export function* checkRecords(store: CheckedStore): Iterable<Finding> {
  for (const table of TABLE_NAMES) yield* unreadable(store, table);
  yield* eventIndex(store);
  yield* incidents(store);
  yield* notifications(store);
  yield* counts(store);
  yield* withoutNamespace(store);
}

function* unreadable(store: CheckedStore, table: TableName): Iterable<Finding> {
  for (const record of store.records(table)) {
    if ('unreadable' in record) yield { record: `${table} ${record.key}`, reason: record.unreadable };
  }
}

/** `eventsByCheck` has each event once. */
function* eventIndex(store: CheckedStore): Iterable<Finding> {
  let events = 0;
  for (const key of store.keys('events')) {
    events += 1;
    if (!store.isIndexed(key)) yield { record: `events ${key}`, reason: 'the index by check does not contain it' };
  }
  let indexed = 0;
  for (const key of store.keys('eventsByCheck')) {
    indexed += 1;
    const [namespace = '', check = '', entity = ''] = key.split('/');
    if (!store.has('events', eventKey(namespace, entity, check)))
      yield { record: `eventsByCheck ${key}`, reason: 'there is no such event' };
  }
  if (indexed !== events) yield { record: 'eventsByCheck', reason: `it has ${indexed} entries for ${events} events` };
}

/** Each open event has an incident, and no other key has one. */
function* incidents(store: CheckedStore): Iterable<Finding> {
  for (const { key, value } of readable(store, 'events')) {
    const { history, state } = value.state;
    const expected = isOpen(history.statuses.at(-1) ?? 0, state);
    if (expected && !store.has('incidents', key))
      yield { record: `events ${key}`, reason: 'it is open and has no incident' };
    if (!expected && store.has('incidents', key)) yield { record: `incidents ${key}`, reason: 'its event is not open' };
  }
  for (const key of store.keys('incidents')) {
    if (!store.has('events', key)) yield { record: `incidents ${key}`, reason: 'there is no such event' };
  }
}

function* notifications(store: CheckedStore): Iterable<Finding> {
  for (const { key, value } of readable(store, 'notificationLog')) {
    const record = `notificationLog ${key}`;
    const { namespace, entity, check, number } = notificationAddress(key);
    const event = eventKey(namespace, entity, check);
    if (!store.has('notificationsByEvent', notificationOfEventKey(event, number))) {
      yield { record, reason: 'the index by event does not contain it' };
    }
    if (value.isDeadLetter === true && !store.has('deadLetters', deadLetterKey(number, value.id))) {
      yield { record, reason: 'its dead letter is missing' };
    }
  }
  for (const key of store.keys('notificationsByEvent')) {
    const logKey = notificationKey(eventOfNotification(key), numberOfEventNotification(key));
    if (!store.has('notificationLog', logKey)) {
      yield { record: `notificationsByEvent ${key}`, reason: 'there is no such notification' };
    }
  }
  for (const { key, value: logKey } of readable(store, 'notificationsById')) {
    if (!store.has('notificationLog', logKey)) {
      yield { record: `notificationsById ${key}`, reason: `there is no notification ${logKey}` };
    }
  }
  for (const key of store.keys('deadLetters')) {
    const logKey = store.get('notificationsById', idOfDeadLetter(key));
    const isKnown = logKey !== undefined && notificationAddress(logKey).number >= numberOfDeadLetter(key);
    if (!isKnown) yield { record: `deadLetters ${key}`, reason: 'there is no such notification' };
  }
}

/** The stored numbers of entities and silences are those of the records. */
function* counts(store: CheckedStore): Iterable<Finding> {
  const stored = (store.get('resources', ENTITY_COUNT_KEY) ?? { count: 0 }) as { count: number; own?: string };
  const own = resourceKey('entities', SYSTEM_NAMESPACE, stored.own ?? '');
  let entities = 0;
  for (const key of store.keys('resources', beginningWith('entities/'))) if (key !== own) entities += 1;
  if (entities !== stored.count) {
    yield {
      record: `resources ${ENTITY_COUNT_KEY}`,
      reason: `it says ${stored.count}, and there are ${entities} entities`,
    };
  }
  const silences = new Map<string, number>();
  for (const key of store.keys('resources', beginningWith('silenced/'))) {
    if (hiddenBy(store, 'silences', key.slice('silenced/'.length)) !== undefined) continue;
    const namespace = key.split('/')[1] ?? '';
    silences.set(namespace, (silences.get(namespace) ?? 0) + 1);
  }
  for (const [namespace, expected] of silences) {
    const key = silenceCountKey(namespace);
    const { count } = (store.get('resources', key) ?? { count: 0 }) as { count: number };
    // A pending deletion counts the silences that it has not removed yet.
    if (count < expected) yield { record: `resources ${key}`, reason: `it says ${count}, and there are ${expected}` };
  }
}

/** Resources, entities and events of namespaces that do not exist. */
function* withoutNamespace(store: CheckedStore): Iterable<Finding> {
  const namespaces = new Set([...store.keys('resources', beginningWith('namespaces/'))].map(lastName));
  const reason = (namespace: string): string => `the namespace ${namespace} does not exist`;
  const kinds = Object.entries(CONFIGURATION_KINDS).flatMap(([name, { scope }]) =>
    scope === 'namespace' ? [name] : [],
  );
  for (const kind of [...kinds, 'entities', 'silenced']) {
    for (const key of store.keys('resources', beginningWith(`${kind}/`))) {
      const namespace = key.split('/')[1] ?? '';
      if (!namespaces.has(namespace)) yield { record: `resources ${key}`, reason: reason(namespace) };
    }
  }
  for (const key of store.keys('events')) {
    const { namespace } = eventAddress(key);
    const isDeleted = hiddenBy(store, 'events', key) !== undefined;
    if (!namespaces.has(namespace) && !isDeleted) yield { record: `events ${key}`, reason: reason(namespace) };
  }
}

const beginningWith = (prefix: string): { from: string; to: string } => ({ from: prefix, to: afterPrefix(prefix) });

const lastName = (key: string): string => key.slice(key.lastIndexOf('/') + 1);

/** The records of a table that can be read; the others are findings of their own. */
function* readable<T extends TableName>(store: CheckedStore, table: T): Iterable<{ key: string; value: Tables[T] }> {
  for (const record of store.records(table)) if ('value' in record) yield record;
}
